/// What an instance knows as one of the two sides of a migration.
///
/// The old side shows the file as it was and changes nothing; the new side is the running write. Objects of both are
/// read at once: an object of the old side that is linked to stands for its twin on the new one.
final class MigrationSide {
    /// A row that is being walked.
    struct Walked {
        var table: Int
        var key: Int64
        var creation: UInt64
    }

    /// Of the old side: the new one, which a misuse of the old one makes fail.
    unowned(unsafe) let target: RealmInstance?
    /// The row that the block was handed last, which is there for certain until something is deleted.
    private(set) var walked: Walked?
    /// Whether the migration has deleted something.
    private(set) var hasDeleted = false

    private init(_ target: RealmInstance?) { self.target = target }

    static func old(before target: RealmInstance) -> MigrationSide { MigrationSide(target) }
    static func new() -> MigrationSide { MigrationSide(nil) }

    var isOld: Bool { target != nil }

    func walk(_ table: Int, _ key: Int64, _ creation: UInt64) {
        walked = Walked(table: table, key: key, creation: creation)
    }

    func endWalk() { walked = nil }

    /// Rows are no longer there for certain.
    func noteDeletion() {
        hasDeleted = true
        walked = nil
    }
}
