import StrataStorage

/// The elements that a program sees of a collection that is not shown as it is stored: the readable ones, if elements
/// or the rows that they link to are lost; the members of a set of values of any type, if some link to deleted objects.
struct ReadableElements {
    /// In the collection's order.
    var contents = StoredCollection()
    /// The place of each element in the stored collection, where the others are counted, too.
    var places: [Int] = []
    /// The elements are those of this collection (row, table, position of the property) under this stamp.
    let stamp: UInt64
    let row: Int64
    let table: Int
    let position: Int
}
