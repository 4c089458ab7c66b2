/// A failure of the harness, which says nothing about the engine.
package struct HarnessError: Error, CustomStringConvertible {
    package var message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}
