import Synchronization

/// Keys that a source of a frozen Realm finds after it was published: any thread may ask for them.
struct FrozenKeys: ~Copyable {
    /// All keys of a class, or all links to an object.
    private let all = Mutex<[Int64]?>(nil)
    /// The keys without the rows that are known to be unreadable, by the generation of the known damage.
    private let readable = Mutex<(generation: UInt32, keys: [Int64])?>(nil)

    /// Whether all keys have been found.
    var areKnown: Bool { all.withLock { $0 != nil } }

    /// All keys, found on first use. Two threads may find them at the same time, and find the same.
    func all(_ find: () -> [Int64]) -> [Int64] {
        let known = all.withLock { $0 }
        let keys = known ?? find()
        if known == nil { all.withLock { $0 = keys } }
        return keys
    }

    /// `keys` without the rows known to be unreadable by now.
    func readable(_ keys: [Int64], _ instance: RealmInstance, _ access: ClassAccess) -> [Int64] {
        guard instance.damage.isKnown, let rows = instance.failures.readableRows(access) else { return keys }
        let generation = instance.file.store.damage.generation
        if let made = readable.withLock({ $0 }), made.generation == generation { return made.keys }
        let left = keys.filter { rows.contains($0) }
        readable.withLock { $0 = (generation, left) }
        return left
    }
}
