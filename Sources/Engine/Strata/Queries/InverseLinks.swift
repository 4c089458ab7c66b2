import StrataStorage

/// The links to one object, as storage counts them and finds them by place.
struct InverseLinks {
    fileprivate let source: ObjectSource
    private let view: ReadView
    private let target: RowKey
    private let table: Int
    private let column: Int

    /// Nil for another collection, for one whose keys are known, and for a damaged one.
    init?(_ source: ObjectSource) {
        guard case .backlinks(let owner, let origin, let property) = source.base, source.steps.isEmpty,
            source.hasNoKeys, !source.isDegraded, !owner.isInvalidated, let view = source.instance.currentView
        else { return nil }
        column = origin.properties[property].column
        guard column >= 0 else { return nil }
        #if Zoo
            if PlantedMistake.backlinkLost.isPlanted { return nil }
        #endif
        self.source = source
        self.view = view
        target = RowKey(owner._key)
        table = origin.table
    }

    /// Runs `body` in the version that was shown. Reports a storage error and returns nil: then the caller needs the
    /// keys of the source.
    func read<Value>(_ body: (BacklinkReader) throws(StorageError) -> Value) -> Value? {
        source.attempt { () throws(StorageError) in
            try body(try BacklinkReader(to: target, of: table, column, in: view))
        }
    }
}

/// Finds the links to one object some at a time, as they are when the walk begins: it pins the version that was shown,
/// whose nodes never change.
struct InverseWalk: KeyParts {
    private let links: InverseLinks
    /// The lowest key of a linking row that may be given next; nil at the end.
    private var next: Int64? = .min
    private var most = 64

    private static let mostAtOnce = 4096

    /// Nil for another collection, and inside a write, whose nodes change.
    init?(_ source: ObjectSource) {
        source.instance.checkConfinement()
        guard !source.instance.isInWrite, let links = InverseLinks(source) else { return nil }
        self.links = links
    }

    /// The next keys; empty at the end. After damage the rest are the readable ones of the version that is shown then.
    mutating func nextKeys() -> [Int64] {
        guard let first = next else { return [] }
        links.source.instance.checkConfinement()
        var keys: [Int64] = []
        let read = links.read { (links) throws(StorageError) in
            try links.append(to: &keys, from: first, atMost: most)
        }
        most = Self.mostAtOnce
        next = read ?? nil
        return read == nil ? links.source.keys().filter { $0 >= first } : keys
    }
}

extension ObjectSource {
    /// The present links to an object, for a loop; nil for another collection, and inside a write.
    func linksInParts() -> (any KeyParts)? { InverseWalk(self) }
}

extension ReadView {
    /// The keys in a column of links; none if the owner is deleted.
    func links(_ owner: ObjectBase, _ property: BoundProperty) throws(StorageError) -> [Int64] {
        guard owner._isCurrent || owner._relocate(), let location = owner._location else { return [] }
        return try links(location, owner._key, property)
    }

    /// The rows of `origin` that link to `owner` through `column`, one entry per link.
    func backlinks(to owner: ObjectBase, _ origin: ClassAccess, column: Int) throws(StorageError) -> [Int64] {
        guard column >= 0 else { return [] }
        var keys: [Int64] = []
        try backlinks(to: RowKey(owner._key), of: origin.table, column) { (key, count) throws(StorageError) in
            for _ in 0..<count { keys.append(key.rawValue) }
            return true
        }
        #if Zoo
            if PlantedMistake.backlinkLost.isPlanted, keys.count > 1 { keys.removeLast() }
        #endif
        return keys
    }
}
