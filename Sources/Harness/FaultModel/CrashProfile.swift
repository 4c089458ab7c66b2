/// How much unsynced data a file system keeps at a power failure.
package enum CrashProfile: String, Sendable, CaseIterable {
    /// What POSIX allows: see ``DiskModel``.
    case strict
    /// ext4 as it is mounted by default (`data=ordered,auto_da_alloc`), and file systems like it. One journal takes
    /// changes of names and explicit changes of sizes to the disk, in their order. A file is never longer than its
    /// written data. When a rename replaces a file, the new contents are on disk before the rename is. A sync of any
    /// file, or of a part of one, commits the journal: all such changes before the sync are durable. A sync of a
    /// directory commits them up to the last change in that directory. Overwritten contents reach the disk in any
    /// order, as in `strict`.
    case ext4Ordered = "ext4-ordered"
    /// Operations reach the disk in their order, and each as a whole, so that a state is a prefix of the trace. A sync
    /// makes everything before it durable, in every file. Even a program that relies on order alone has to survive
    /// these states.
    case prefix

    /// Whether names and explicit sizes are in one journal, which a sync writes.
    var hasJournal: Bool { self == .ext4Ordered }
}
