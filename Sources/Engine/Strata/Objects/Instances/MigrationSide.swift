/// State of an instance that is one of the two sides of a migration.
///
/// The old side is a read-only view of the file before the migration; the new side is the running write. Objects of
/// both are used together: an old object that is linked to is replaced by its new counterpart.
final class MigrationSide {
    /// A row that is being enumerated.
    struct Walked {
        var table: Int
        var key: Int64
        var creation: UInt64
    }

    /// For the old side: the new side, whose write fails if the program changes an old object. Nil for the new side.
    unowned(unsafe) let target: RealmInstance?
    /// The row that was enumerated last. It exists until the migration deletes something.
    private(set) var walked: Walked?
    /// Whether the migration has deleted rows.
    private(set) var hasDeleted = false

    private init(_ target: RealmInstance?) { self.target = target }

    static func old(before target: RealmInstance) -> MigrationSide { MigrationSide(target) }
    static func new() -> MigrationSide { MigrationSide(nil) }

    var isOld: Bool { target != nil }

    func walk(_ table: Int, _ key: Int64, _ creation: UInt64) {
        walked = Walked(table: table, key: key, creation: creation)
    }

    func endWalk() { walked = nil }

    /// Called at each deletion: from here on a row that was enumerated may not exist any more.
    func noteDeletion() {
        hasDeleted = true
        walked = nil
    }
}
