import StrataStorage

/// What can be read of a list, set or map some of whose elements are lost, or lead to rows that are.
struct ReadableElements {
    /// In the collection's order.
    var contents = StoredCollection()
    /// Where each element stands in the collection with what is lost.
    var places: [Int] = []
    /// What it belongs to.
    let stamp: UInt64
    let row: Int64
    let table: Int
    let position: Int
}
