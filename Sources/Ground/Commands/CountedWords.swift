/// `1 row`, `2 rows`.
package func counted(_ number: Int, _ one: String, several: String? = nil) -> String {
    "\(number) \(number == 1 ? one : several ?? one + "s")"
}
