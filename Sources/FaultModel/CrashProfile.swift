/// How much unsynced data a file system keeps at a power failure.
package enum CrashProfile: String, Sendable, CaseIterable {
    /// What POSIX allows: see ``DiskModel``.
    case strict
    /// ext4 as it is mounted by default (`data=ordered,auto_da_alloc`), and file systems like it. Changes of names and
    /// sizes that were set reach the disk in order, as one journal has them. A file is never longer than its written
    /// data. A file that a rename puts in the place of another one is written out before the rename is on the disk. A
    /// sync of any file, or of a part of one, takes all of these before it to the disk; a sync of a directory takes
    /// those up to the last change in that directory. Contents that were written over go to disk in any order, as in
    /// `strict`.
    case ext4Ordered = "ext4-ordered"
    /// All in order and none by half: what a program must stand that gave up every promise but order. What a sync
    /// covers has all that came before it.
    case prefix

    /// Whether names and explicit sizes are in one journal, which a sync writes.
    var hasJournal: Bool { self == .ext4Ordered }
}
