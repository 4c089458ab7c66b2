import CStrataShim
import StrataStorage

/// The two objects of a migration's enumeration: the same ones for each row, unless the block keeps a reference of any
/// kind to them.
struct WalkedPair {
    private let source: RealmInstance
    private let target: RealmInstance
    private let oldAccess: ClassAccess
    private let newAccess: ClassAccess?
    private(set) var old: MigrationObject?
    /// Nil if the program does not have the class.
    private(set) var new: MigrationObject?

    init(source: RealmInstance, old: ClassAccess, target: RealmInstance, new: ClassAccess?) {
        self.source = source
        self.target = target
        oldAccess = old
        newAccess = new
    }

    /// Moves both objects to a row.
    /// - Returns: false if there is none, if the migration has deleted its new object, or if it cannot be read, which
    ///   fails the migration.
    mutating func move(to key: Int64) -> Bool {
        guard let view = source.currentView else { return false }
        do throws(StorageError) {
            guard let row = try view.locate(oldAccess.table, RowKey(key)) else { return false }
            let creation = try view.creationVersion(row).rawValue
            let object = Self.free(&old)
            source.bind(object, oldAccess, RowKey(key), creation: creation)
            object._location = row
            object._stamp = source.stamp
            guard let newAccess else { return true }
            return moveNew(to: key, creation, newAccess)
        } catch {
            target.fail(RealmError(error))
            return false
        }
    }

    private mutating func moveNew(to key: Int64, _ creation: UInt64, _ access: ClassAccess) -> Bool {
        if target.migration?.hasDeleted != true {
            // The row exists; it is located when a property is first read.
            target.bind(Self.free(&new), access, RowKey(key), creation: creation)
        } else {
            guard let found = target.materialize(access, RowKey(key)) as? MigrationObject, found._creation == creation
            else { return false }
            new = found
        }
        target.migration?.walk(access.table, key, creation)
        return true
    }

    /// The object if the program has no reference to it; otherwise another one.
    @inline(__always)
    private static func free(_ object: inout MigrationObject?) -> MigrationObject {
        // Read as raw memory: a reference would be counted.
        let place = withUnsafeBytes(of: &object) { $0.load(as: UnsafeRawPointer?.self) }
        if let place, strata_reference_counts(place) == ReferenceCounts.alone, let object { return object }
        let made = MigrationObject()
        object = made
        return made
    }
}
