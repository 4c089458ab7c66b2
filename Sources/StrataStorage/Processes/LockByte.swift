/// Bytes of the data file whose locks mean something. Far behind any contents.
///
/// A lock belongs to an open file and goes with its process, however that ends: unlike the lock file's contents, nobody
/// can write over it. docs/file-format.md lists them.
package enum LockByte {
    /// Shared: the store is open. Exclusive: for one process alone.
    package static let open: Int64 = 1 << 62
    /// Shared: takes part in a process table.
    package static let attached: Int64 = open + 1
    /// Exclusive: owns writing.
    static let writer: Int64 = open + 2
    /// Exclusive: changes what several processes change in the table, for a few loads and stores.
    static let change: Int64 = open + 3

    /// Exclusive: a process keeps the store for itself, because the disk had no room for the lock file.
    static let unshared: Int64 = open + 4

    /// Exclusive: the process of a slot lives.
    static func slot(_ index: Int) -> Int64 { open + 16 + Int64(index) }

    /// Shared: takes part in this very table. A copy of its file has another number.
    static func table(_ identity: UInt64) -> Int64 { (1 << 61) + Int64(identity >> 4) }
}
