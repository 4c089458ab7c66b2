import StrataStorage

/// The readable elements of a list, set or map with lost elements, or with links to lost rows.
struct ReadableElements {
    /// In the collection's order.
    var contents = StoredCollection()
    /// Place of each element in the collection, counting lost ones.
    var places: [Int] = []
    /// Validity: stamp, and row and column of the collection.
    let stamp: UInt64
    let row: Int64
    let table: Int
    let position: Int
}
