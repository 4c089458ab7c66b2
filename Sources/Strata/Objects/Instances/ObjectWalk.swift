import CStrataShim
import StrataStorage

/// Makes the objects of an iteration, and reuses the last one for the next row if the program has no reference to it.
///
/// An object is reused only if only this iteration has a strong, unowned or weak reference to it, if its class
/// has no state of its own (``ClassPlan/isOnlyPlace``), and if the Realm is not frozen, since several threads may share
/// a frozen Realm's iterations. So a program never sees an object change its row. docs/objects.md has the whole rule.
///
/// Concurrency: confined with its Realm; in a frozen one with the iterating thread.
@usableFromInline
final class ObjectWalk {
    private let instance: RealmInstance
    /// Owned by the instance.
    private unowned(unsafe) let access: ClassAccess
    /// The last returned object, retained.
    private var last: Unmanaged<ObjectBase>?
    /// How many consecutive objects the program has kept; from ``patience`` on none is reused.
    private var kept = 0
    /// The run of consecutive rows with the last one.
    private var run: RowRun?
    /// The stamp of the run.
    private var stamp: UInt64 = 0

    private static let patience = 16
    private let alone = ReferenceCounts.alone

    init(_ access: ClassAccess) {
        self.access = access
        instance = access.instance
        if access.plan?.isOnlyPlace != true || instance.isFrozen || alone == 0 { kept = Self.patience }
    }

    deinit { last?.release() }

    /// The object of a row, or an invalidated one; nil for an unreadable row.
    ///
    /// Never inlined: the compiler must not see that two returned objects may be the same, or it could remove a retain
    /// that is needed.
    @usableFromInline
    @inline(never)
    func object(_ key: Int64) -> ObjectBase? {
        if let last {
            if strata_reference_counts(last.toOpaque()) == alone {
                if last._withUnsafeGuaranteedRef({ move($0, to: key) }) {
                    kept = 0
                    strata_retain_alone(last.toOpaque())
                    return last.takeRetainedValue()
                }
            } else {
                kept += 1
            }
            self.last = nil
            last.release()
        }
        guard let made = instance.materializeOrInvalid(access, RowKey(key)) else { return nil }
        if kept < Self.patience { last = .passRetained(made) }
        return made
    }

    /// Makes an unreferenced object the accessor of another row of its class.
    /// - Returns: false if the row does not exist, or cannot be read.
    @inline(__always)
    private func move(_ object: ObjectBase, to key: Int64) -> Bool {
        guard let (place, creation) = find(key) else { return false }
        object._location = place
        object._stamp = access.frame.pointee.stamp
        object._key = key
        object._creation = creation
        object._birthWrite = instance.birthWrite(creation)
        if access.capturesKey { instance.captureKey(object, access) }
        return true
    }

    @inline(__always)
    private func find(_ key: Int64) -> (RowLocation, creation: UInt64)? {
        if stamp == access.frame.pointee.stamp, let found = run?.find(key) { return found }
        return findFar(key)
    }

    @inline(never)
    private func findFar(_ key: Int64) -> (RowLocation, creation: UInt64)? {
        guard instance.currentView != nil else { return nil }
        return access.frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) {
                run = nil
                guard let place = try view.locate(access.table, RowKey(key)) else { return nil }
                let creation = try view.creationVersion(place).rawValue
                run = try view.run(around: place)
                stamp = access.frame.pointee.stamp
                return (place, creation)
            } catch {
                // The caller then makes a new object, which reports the error.
                return nil
            }
        }
    }
}

/// The word of reference counts of an object with a single strong reference, and no other one of any kind.
///
/// Swift can check for strong references only (`isKnownUniquelyReferenced`). So the runtime's word for all kinds is
/// compared with that of an object with known references; the meaning of its bits does not matter.
enum ReferenceCounts {
    /// 0, which no live object has, if the word does not include every kind: then no object is ever reused.
    static let alone: UInt64 = {
        let type: ObjectBase.Type = DynamicObject.self
        let object = Unmanaged.passRetained(type.init())
        defer { object.release() }
        return strata_counts_alone(object.toOpaque())
    }()
}
