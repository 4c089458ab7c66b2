/// What a file system keeps of what was not synced when power goes.
package enum CrashProfile: String, Sendable, CaseIterable {
    /// What POSIX lets happen: see ``DiskModel``.
    case strict
    /// ext4 as it is mounted by default (`data=ordered`), and file systems like it. Names change in order, as
    /// one journal has them; a file is never longer than its written data; and a sync of any file takes all changes of
    /// names before it to the disk. Contents that were written over go to disk in any order, as in `strict`.
    case ext4Ordered = "ext4-ordered"
    /// All in order and none by half: what a program must stand that gave up every promise but order.
    case prefix

    /// Whether a sync of a file is one of all names, too.
    var syncsNames: Bool { self == .ext4Ordered }
}
