import CStrataShim
import StrataStorage

/// Makes the objects of an iteration, and reuses the last one for the next row if the program has no reference to it.
///
/// An object is reused only if no other strong, unowned or weak reference to it exists, if its class has no state of
/// its own (``ClassPlan/isOnlyPlace``), and if the Realm is not frozen, since several threads may iterate over a frozen
/// one. So a program never sees an object change its row. docs/objects.md has the whole rule.
///
/// After an iteration over a list, a set or inverse links has reached its end, the class of the objects keeps the walk,
/// with its last object, for the next such iteration (``ClassAccess/idleWalk``).
///
/// 1. In use, either `held` or the last object retains the Realm.
/// 2. Idle, neither does, because the class belongs to the Realm. The last object then has no owner, and no reference
///    but that of the walk.
///
/// Concurrency: confined with its Realm; in a frozen one with the iterating thread.
@usableFromInline
final class ObjectWalk {
    private let instance: Unmanaged<RealmInstance>
    private var held: RealmInstance?
    /// Owned by the instance.
    private let access: Unmanaged<ClassAccess>
    private let frame: UnsafeMutablePointer<_ClassFrame>
    /// The object that was returned last, retained; nil if it is not reused.
    private var last: Unmanaged<ObjectBase>?
    private let mayReuse: Bool
    /// How many consecutive objects the program has kept; from ``patience`` on none is reused.
    private var kept = 0
    /// Adjacent rows around the last one: a row of them is found without the tree.
    private var run: RowRun?
    /// The stamp under which `run` was made; under another one it is not used.
    private var stamp: UInt64 = 0
    /// The last stamp under which the Realm was seen to show a version.
    private var shown: UInt64 = 0
    /// The group of the last row that was not in `run`. Two such rows of one group, one after the other, make a new
    /// run.
    private var missed: UnsafeRawPointer?
    /// Keys of a collection that was short enough to be read at the start of the iteration.
    @usableFromInline @exclusivity(unchecked) private(set) var keys = UnsafeMutablePointer<Int64>(bitPattern: 8)
        .unsafelyUnwrapped
    @usableFromInline @exclusivity(unchecked) private(set) var count = 0
    /// Allocated capacity of `keys`.
    private var room = 0

    private static let patience = 16
    private static let firstRoom = 64
    /// Most keys that are read at the start.
    private static let mostKeys = 4096
    private let alone = ReferenceCounts.alone

    init(_ access: ClassAccess) {
        self.access = .passUnretained(access)
        frame = access.frame
        instance = .passUnretained(access.instance)
        held = access.instance
        mayReuse = access.plan?.isOnlyPlace == true && !access.instance.isFrozen && alone != 0
        if !mayReuse { kept = Self.patience }
    }

    deinit {
        last?.release()
        if room > 0 { keys.deallocate() }
    }

    // MARK: Short collections

    /// An iteration over a list or a set of objects that is stored in its row. Nil for any other collection, for a
    /// deleted owner, and if something cannot be read: the caller then uses an ``ElementWalk``, which reports it.
    /// - Parameter position: of the property.
    static func along(_ owner: ObjectBase, _ position: Int) -> ObjectWalk? {
        owner.readLinks(position) { (list, view, row) throws(StorageError) in
            try (list.target.idleWalk.take() ?? ObjectWalk(list.target)).starting {
                (keys, room) throws(StorageError) in try view.links(row, list.column, into: keys, room: room)
            }
        }
    }

    /// An iteration over the objects that link to another one, if they are not many. Nil as in ``along(_:)``.
    static func back(to owner: ObjectBase, _ origin: ClassAccess, column: Int) -> ObjectWalk? {
        owner.readRow { (view, _) throws(StorageError) in
            try (origin.idleWalk.take() ?? ObjectWalk(origin)).starting { (keys, room) throws(StorageError) in
                try view.backlinks(to: RowKey(owner._key), of: origin.table, column, into: keys, room: room)
            }
        }
    }

    /// Reads the keys and begins an iteration over them; nil if there are too many, or they cannot be read.
    /// - Parameter read: copies the keys if there is room for them, and returns their number; nil if it cannot.
    @inline(__always)
    private func starting(
        _ read: (_ keys: UnsafeMutablePointer<Int64>, _ room: Int) throws(StorageError) -> Int?
    ) throws(StorageError) -> ObjectWalk? {
        if room == 0 { makeRoom(Self.firstRoom) }
        guard var found = try read(keys, room) else { return nil }
        if found > room {
            if found > Self.mostKeys { return nil }
            makeRoom(found)
            guard let again = try read(keys, room), again <= room else { return nil }
            found = again
        }
        count = found
        awake()
        return self
    }

    private func makeRoom(_ wanted: Int) {
        if room > 0 { keys.deallocate() }
        keys = .allocate(capacity: wanted)
        room = wanted
    }

    /// Begins the next iteration of an idle walk.
    @inline(__always)
    private func awake() {
        if held != nil { return }
        let instance = instance._withUnsafeGuaranteedRef { $0 }
        if let last { last._withUnsafeGuaranteedRef { $0._owner = instance } } else { held = instance }
        kept = mayReuse ? 0 : Self.patience
    }

    /// Called at the end of an iteration over a short collection: the class of its objects keeps the walk for the next
    /// one.
    @usableFromInline
    static func end(_ walk: inout ObjectWalk?) {
        guard var ended = walk.take(), ended.mayReuse, isKnownUniquelyReferenced(&ended) else { return }
        // Before `rest`, which may release the last reference to the Realm, and with it the class.
        ended.access._withUnsafeGuaranteedRef { $0.idleWalk = ended }
        ended.rest()
    }

    private func rest() {
        if let last {
            if strata_reference_counts(last.toOpaque()) == alone {
                last._withUnsafeGuaranteedRef { $0._owner = nil }
            } else {
                self.last = nil
                last.release()
            }
        }
        held = nil
    }

    // MARK: Objects

    /// The object of a row, or an invalidated one if there is no such row; nil for an unreadable row.
    ///
    /// Never inlined: a compiler that saw that two calls may return the same object could remove a retain that is
    /// needed.
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
            if held == nil { held = instance._withUnsafeGuaranteedRef { $0 } }
            self.last = nil
            last.release()
        }
        let made = instance._withUnsafeGuaranteedRef { instance in
            access._withUnsafeGuaranteedRef { instance.materializeOrInvalid($0, RowKey(key)) }
        }
        guard let made else { return nil }
        if kept < Self.patience { last = .passRetained(made) }
        return made
    }

    /// Makes an object to which only the walk has a reference the accessor of another row of its class.
    /// - Returns: false if the row does not exist, or cannot be read.
    @inline(__always)
    private func move(_ object: ObjectBase, to key: Int64) -> Bool {
        guard let (place, creation) = find(key) else { return false }
        object._location = place
        object._stamp = frame.pointee.stamp
        object._key = key
        object._creation = creation
        instance._withUnsafeGuaranteedRef { instance in
            object._birthWrite = instance.isInWrite ? instance.birthWrite(creation) : 0
            access._withUnsafeGuaranteedRef { if $0.capturesKey { instance.captureKey(object, $0) } }
        }
        return true
    }

    @inline(__always)
    private func find(_ key: Int64) -> (RowLocation, creation: UInt64)? {
        if stamp == frame.pointee.stamp, let found = run?.find(key) { return found }
        return findFar(key)
    }

    @inline(never)
    private func findFar(_ key: Int64) -> (RowLocation, creation: UInt64)? {
        if shown != frame.pointee.stamp {
            guard instance._withUnsafeGuaranteedRef({ $0.currentView != nil }) else { return nil }
            shown = frame.pointee.stamp
        }
        return frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) {
                run = nil
                let table = access._withUnsafeGuaranteedRef { $0.table }
                guard let (place, creation) = try view.locateCreated(table, RowKey(key)) else { return nil }
                if missed == place.group {
                    run = try view.run(around: place)
                    stamp = frame.pointee.stamp
                }
                missed = place.group
                return (place, creation)
            } catch {
                // The caller then makes a new object, which reports the error.
                return nil
            }
        }
    }
}

/// The runtime's word of reference counts as it is for an object with one strong reference, and no other one of any
/// kind.
///
/// Swift's own check (`isKnownUniquelyReferenced`) sees strong references only. The word has all kinds; it is compared
/// with that of an object whose references are known, so the meaning of its bits does not matter.
enum ReferenceCounts {
    /// 0, which no live object has, if a trial shows that the word does not count every kind: no object is reused then.
    static let alone: UInt64 = {
        let type: ObjectBase.Type = DynamicObject.self
        let object = Unmanaged.passRetained(type.init())
        defer { object.release() }
        return strata_counts_alone(object.toOpaque())
    }()
}
