/// Bytes of the data file that processes lock. Their offsets lie far behind any contents.
///
/// A lock belongs to an open file, and the kernel releases it when the process ends, however it ends. Unlike the lock
/// file's contents, no process can overwrite it. docs/file-format.md lists the bytes.
package enum LockByte {
    /// Shared: the store is open. Exclusive: open in one process alone.
    package static let open: Int64 = 1 << 62
    /// Shared: attached to a process table.
    package static let attached: Int64 = open + 1
    /// Exclusive: owns writing.
    static let writer: Int64 = open + 2
    /// Exclusive: guards changes of the table by several processes. A thread holds it for a few loads and stores.
    static let change: Int64 = open + 3

    /// Exclusive: the store is open without a process table, because the disk had no room for the lock file.
    static let unshared: Int64 = open + 4

    /// Exclusive: the process of this slot lives.
    static func slot(_ index: Int) -> Int64 { open + 16 + Int64(index) }

    /// Shared: attached to the process table with this identity. A copy of the lock file has another identity.
    static func table(_ identity: UInt64) -> Int64 { (1 << 61) + Int64(identity >> 4) }
}
