/// How much unsynced data a file system keeps at a power failure.
package enum CrashProfile: String, Sendable, CaseIterable {
    /// What POSIX allows: see ``DiskModel``.
    case strict
    /// ext4 with its default mount options (`data=ordered,auto_da_alloc`), and similar file systems. Changes of names
    /// and explicit sizes reach the disk in order, through one journal. A file is never longer than its written data. A
    /// file that replaces another one by a rename is written out before the rename is on the disk. A sync of any file
    /// puts all earlier ones of these on the disk, a sync of a directory those up to the last change in that directory.
    /// Overwritten contents go to disk in any order, as in `strict`.
    case ext4Ordered = "ext4-ordered"
    /// Everything in order, and nothing torn: for programs that rely on nothing but order.
    case prefix

    /// Whether names and explicit sizes are in one journal, which a sync writes.
    var hasJournal: Bool { self == .ext4Ordered }
}
