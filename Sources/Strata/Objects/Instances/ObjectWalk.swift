import CStrataShim
import StrataStorage

/// Makes the objects of a walk, and hands out the last one again for the next row where nobody else knows it.
///
/// Rule: an object stands for another row than before only when nobody but this walk has a reference to it, be it
/// strong, unowned or weak; when its class is nothing but a place, see ``ClassPlan/isOnlyPlace``; and when the Realm is
/// not frozen, whose walks several threads may share. So nobody sees an object become another one. docs/objects.md has
/// the whole rule.
///
/// Concurrency: confined with its Realm; of a frozen one with whoever walks.
@usableFromInline
final class ObjectWalk {
    private let instance: RealmInstance
    /// The instance keeps it.
    private unowned(unsafe) let access: ClassAccess
    /// What was handed out last, with a count of its own.
    private var last: Unmanaged<ObjectBase>?
    /// How many times in a row somebody kept what was handed out; from ``patience`` on nothing is used again.
    private var kept = 0
    /// Rows side by side, where the last one was found.
    private var run: RowRun?
    /// What the run belongs to.
    private var stamp: UInt64 = 0

    private static let patience = 16
    private let alone = ReferenceCounts.alone

    init(_ access: ClassAccess) {
        self.access = access
        instance = access.instance
        if access.plan?.isOnlyPlace != true || instance.isFrozen || alone == 0 { kept = Self.patience }
    }

    deinit { last?.release() }

    /// The object of a row, or one that was never there; nil for a row that cannot be read.
    ///
    /// A call and never inlined: the compiler must not see that two objects may be one, or it would spare the count of
    /// a reference that is in use.
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

    /// Makes an object that nobody knows an accessor of another row of its class.
    /// - Returns: false where that row is not there, or cannot be read.
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
                // Who makes the object anew finds and reports it.
                return nil
            }
        }
    }
}

/// What the counts of an object are that one strong reference leads to, and no other one of any kind.
///
/// Swift has a question for strong references alone (`isKnownUniquelyReferenced`). So the word that its runtime keeps
/// for all kinds is compared with that of an object whose references are known; what its bits mean does not matter.
enum ReferenceCounts {
    /// 0, which no living object has, where the word does not tell every kind: then nothing is ever alone.
    static let alone: UInt64 = {
        let type: ObjectBase.Type = DynamicObject.self
        let object = Unmanaged.passRetained(type.init())
        defer { object.release() }
        return strata_counts_alone(object.toOpaque())
    }()
}
