import StrataStorage

/// The keys of a collection's rows, in its order: as bits where they ascend and lie close to each other.
enum RowSequence {
    case bits(RowBits)
    case keys(KeySequence)

    /// - Parameter ascends: whether the keys ascend, without duplicates.
    init(_ keys: [Int64], ascends: Bool) {
        if ascends, let bits = RowBits(ascending: keys) { self = .bits(bits) } else { self = .keys(KeySequence(keys)) }
    }

    var count: Int {
        switch self {
        case .bits(let bits): bits.count
        case .keys(let keys): keys.count
        }
    }

    var keys: [Int64] {
        switch self {
        case .bits(let bits): bits.keys
        case .keys(let keys): keys.keys
        }
    }

    /// Nil beyond the end.
    func key(at place: Int) -> Int64? {
        switch self {
        case .bits(let bits): bits.key(at: place)
        case .keys(let keys): keys.key(at: place)
        }
    }

    // MARK: Ascending keys

    /// Whether an ascending sequence has a key.
    func contains(_ key: Int64) -> Bool {
        switch self {
        case .bits(let bits): bits.contains(key)
        case .keys(let keys): keys.key(at: keys.rank(of: key)) == key
        }
    }

    /// Places of those keys that an ascending sequence has; the keys ascend, too.
    func places(of wanted: [Int64]) -> [(place: Int, key: Int64)] {
        switch self {
        case .bits(let bits): return bits.places(of: wanted)
        case .keys(let keys):
            if wanted.count > 64 + keys.count / 8 { return Self.places(of: wanted, in: keys.keys) }
            return wanted.compactMap { key in
                let place = keys.rank(of: key)
                return keys.key(at: place) == key ? (place, key) : nil
            }
        }
    }

    private static func places(of wanted: [Int64], in keys: [Int64]) -> [(place: Int, key: Int64)] {
        var found: [(place: Int, key: Int64)] = []
        var place = 0
        for key in wanted {
            while place < keys.count, keys[place] < key { place += 1 }
            if place < keys.count, keys[place] == key { found.append((place, key)) }
        }
        return found
    }

    /// Removes and inserts keys of an ascending sequence.
    mutating func exchange(_ gone: [Int64], for come: [Int64]) {
        switch self {
        case .bits(var bits):
            // Drops this reference, so that the chunks are changed in place.
            self = .keys(KeySequence([]))
            for key in gone { bits.remove(key) }
            for key in come { bits.insert(key) }
            self = bits.isWasteful ? .keys(KeySequence(bits.keys)) : .bits(bits)
        case .keys(var keys):
            self = .keys(KeySequence([]))
            for key in gone { keys.remove(at: keys.rank(of: key)) }
            for key in come { keys.insert(key, at: keys.rank(of: key)) }
            self = .keys(keys)
        }
    }
}

extension ObjectSource {
    /// The rows of the visible state, for an observer of a class's rows.
    /// - Parameter ascends: whether no step sorts.
    /// - Complexity: that of the query, without memory for all keys where storage evaluates it and they lie close.
    func rowSequence(ascends: Bool) -> RowSequence {
        if ascends, cache?.stamp != instance.stamp, !instance.isInWrite, let found = ownSequence() { return found }
        return RowSequence(keys(), ascends: ascends)
    }

    private func ownSequence() -> RowSequence? {
        instance.checkConfinement()
        guard let view = instance.currentView, let filter = rowFilter(view) else { return nil }
        var bits = RowBits()
        // Behind those in the bits, once these were too far from each other.
        var others: [Int64]?
        let isDone: Void? = attempt { () throws(StorageError) in
            try view.forEachStretch(access.table, where: filter) { stretch in
                switch stretch {
                case .bits(let first, let words, let count): bits.append(words, words: count, from: first)
                case .keys(let keys): bits.append(keys)
                }
                if others == nil {
                    guard bits.isWasteful else { return }
                    others = []
                }
                others?.append(contentsOf: bits.keys)
                bits = RowBits()
            }
        }
        if isDone == nil { return nil }
        if let others { return .keys(KeySequence(others + bits.keys)) }
        return bits.isSparse ? .keys(KeySequence(bits.keys)) : .bits(bits)
    }
}

/// Rows of a collection that are known besides by its source.
///
/// Concurrency: confined with its Realm.
protocol KnownRows: AnyObject {
    /// The version that they are of.
    var version: TransactionID { get }
    var count: Int { get }
    /// Nil beyond the end.
    func key(at place: Int) -> Int64?
    /// Nil for a row that is not there.
    func place(of key: Int64) -> Int?
    /// Places of those rows that are there, ascending.
    /// - Complexity: O(log count) comparisons for each.
    func places(of wanted: Set<Int64>) throws(StorageError) -> [(place: Int, key: Int64)]
    /// All keys, in order.
    /// - Complexity: O(1) from the second call for a version on.
    var keys: [Int64] { get }
}

/// An observer that knows the rows of a collection.
///
/// Concurrency: confined with its Realm.
protocol RowFollower: AnyObject {
    /// Those of the version that it was last told of; nil if it does not know them.
    var knownRows: (any KnownRows)? { get }
}

/// The observer in whose rows a source finds counts and places.
struct LastFollower {
    private(set) weak var observer: (any RowFollower)?
    private var id: ObjectIdentifier?

    /// Called by an observer at each version. A weak reference is made only if another observer called in between.
    /// - Parameter isNew: whether it is the observer's first call. Its address may be that of one that has ended.
    mutating func set(_ observer: any RowFollower, isNew: Bool) {
        if !isNew, id == ObjectIdentifier(observer) { return }
        id = ObjectIdentifier(observer)
        self.observer = observer
    }
}
