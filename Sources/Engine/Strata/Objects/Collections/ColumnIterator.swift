import StrataStorage

/// Iterates over the elements that a list or a set has when the iteration starts.
///
/// Objects are handed out as by ``ResultsIterator``: a new instance for each row, or the previous one if the program
/// has no reference to it.
@frozen
public struct ColumnIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// The iteration over a collection of objects whose keys were read at the start; nil for all others.
    @usableFromInline var walk: ObjectWalk?
    @usableFromInline var place = 0
    @usableFromInline let others: ElementSource<Element>

    @inlinable
    init(_ walk: ObjectWalk) {
        self.walk = walk
        others = .none
    }

    @usableFromInline
    init(_ column: _CollectionColumn) {
        let context = column.context
        switch ElementWalk.start(column) {
        case .short(let all): others = .short(all, context, column.owner)
        case .long:
            let objects = Element.self is ObjectBase.Type ? context.target.map { ObjectWalk($0) } : nil
            others = .long(ElementWalk(column), context, objects)
        }
    }

    @usableFromInline
    init(_ unmanaged: [Element]) { others = .unmanaged(unmanaged) }

    @inlinable
    public mutating func next() -> Element? {
        if walk == nil { return nextOther() }
        if let element = nextObject() { return element }
        // `nextObject` has released its copy of the reference, which would keep the walk from being reused.
        ObjectWalk.end(&walk)
        return nil
    }

    @inlinable @inline(__always)
    mutating func nextObject() -> Element? {
        guard let walk else { return nil }
        while place < walk.count {
            let key = walk.keys[place]
            place &+= 1
            // An unreadable row is skipped, and was reported.
            if let object = walk.object(key) { return unsafeBitCast(object, to: Element.self) }
        }
        return nil
    }

    @usableFromInline
    mutating func nextOther() -> Element? {
        // An unreadable object is skipped; the failed read was reported.
        switch others {
        case .none: return nil
        case .unmanaged(let elements):
            defer { place += 1 }
            return place < elements.count ? elements[place] : nil
        case .short(let values, let context, _):
            while place < values.count {
                let value = values[place]
                place += 1
                let element = Element._element(value, context)
                if !context.isLost(value) { return element }
            }
            return nil
        case .long(let walk, let context, let objects):
            while let value = walk.next() {
                if let objects, case .link(let key) = value {
                    if let object = objects.object(key) { return unsafeBitCast(object, to: Element.self) }
                    continue
                }
                let element: Element = walk.decoded(value, context)
                if !context.isLost(value) { return element }
            }
            return nil
        }
    }
}

/// The elements of an iteration that is not over the keys of objects.
@usableFromInline
enum ElementSource<Element> {
    /// The iteration is over keys, in ``ColumnIterator/walk``.
    case none
    case unmanaged([Element])
    /// All elements of a short managed collection; its owner keeps the Realm alive.
    case short([_StoredValue], _ElementContext, ObjectBase)
    /// A managed collection that is decoded in batches.
    case long(ElementWalk, _ElementContext, ObjectWalk?)
}

/// An iteration over a managed collection as it is at the start, decoded in batches.
///
/// 1. Outside a write it pins the version that was shown, whose nodes never change.
/// 2. Inside a write it finds the collection again for each batch. Before the collection changes, or the write ends,
///    all elements that are left are decoded. See ``CollectionWalks``.
///
/// Concurrency: confined with its Realm; in a frozen one with the iterating thread.
@usableFromInline
final class ElementWalk: CollectionWalk {
    /// Keeps the owner, and so the Realm, alive.
    private let column: _CollectionColumn
    private var values: [_StoredValue] = []
    /// The keys of `values` in a map; else empty.
    private var keys: [String] = []
    /// Locations of inner collections among values of any type, one for each value.
    private var places: [NestedPlace?] = []
    /// Steps to the collection itself at the start of the iteration.
    private let standing: NestedSteps?
    private var position = 0
    /// The first place that is not decoded yet.
    private var place = 0
    /// The collection in the pinned version; nil inside a write, where it is found again for each batch.
    private var version: CollectionContents?
    /// The iterations of the running write, which contain this one; nil outside a write.
    private var known: CollectionWalks?
    /// Whether all elements are decoded.
    private var isOver = true

    /// Largest batch; a collection stored in its row is decoded at once, whatever its size.
    private static let mostAtOnce = 4096
    /// Size of the first batch.
    private static let mostAtStart = 64

    /// Start of an iteration.
    enum Start {
        /// All elements of a short collection without inner collections; empty if its owner was deleted.
        case short([_StoredValue])
        /// An ``ElementWalk`` is needed, which reports unreadable elements.
        case long
    }

    /// Decodes a short collection, without allocating an object.
    static func start(_ column: _CollectionColumn) -> Start {
        column.read(.short([])) { (contents) throws(StorageError) in
            if contents.count == 0 { return .short([]) }
            if contents.count > mostAtStart || contents.tag.takesNested || contents.tag.isSetOfAny { return .long }
            var all = StoredCollection()
            do throws(StorageError) {
                while all.values.count < contents.count {
                    try contents.append(from: all.values.count, atMost: mostAtOnce, to: &all, isWhole: false)
                }
            } catch {
                return .long
            }
            return .short(all.values)
        }
    }

    init(_ column: _CollectionColumn) {
        self.column = column
        standing = column.nested?.standing
        let isInWrite = column.owner._instance?.isInWrite == true
        column.read(()) { (contents) throws(StorageError) in
            if contents.tag.isSetOfAny, let instance = column.owner._instance,
                let shown = try column.shown(contents, instance)
            {
                values = shown.contents.values
                return
            }
            if contents.count <= Self.mostAtStart {
                while place < contents.count { decodeOrSkip(contents) }
            } else {
                isOver = false
                if !isInWrite { version = contents }
            }
        }
        if isInWrite && !isOver { known = column.owner._instance?.write?.walks }
        known?.add(self)
    }

    deinit { known?.remove(self) }

    /// The next element, or a map's value.
    func next() -> _StoredValue? {
        if position == values.count && !decodeMore() { return nil }
        defer { position += 1 }
        return values[position]
    }

    /// As ``next()``, with its key.
    func nextEntry() -> (key: String, value: _StoredValue)? {
        guard let value = next() else { return nil }
        return (keys[position - 1], value)
    }

    /// The last returned element, decoded for the program.
    func decoded<Element: RealmCollectionValue>(_ value: _StoredValue, _ context: _ElementContext) -> Element {
        places.isEmpty ? Element._element(value, context) : decodedWithPlace(value, context)
    }

    /// A separate function, so that elements without places do not pay for the metadata of the cast.
    private func decodedWithPlace<Element: RealmCollectionValue>(
        _ value: _StoredValue, _ context: _ElementContext
    ) -> Element {
        if let place = places[position - 1], let isKeyed = NestedEncoding.isKeyed(value) {
            let inner = _CollectionColumn(column.owner, column.position, place)
            if let inner = AnyRealmValue.managed(inner, isKeyed: isKeyed) as? Element { return inner }
        }
        return Element._element(value, context)
    }

    /// - Returns: false at the end.
    private func decodeMore() -> Bool {
        if isOver { return false }
        column.owner._instance?.checkConfinement()
        values.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        position = 0
        if let version {
            decodeOrSkip(version)
        } else {
            column.read(()) { (contents) throws(StorageError) in decodeOrSkip(contents) }
        }
        if !values.isEmpty { return true }
        end()
        return false
    }

    /// If a node cannot be read, decodes the rest at once, without the lost elements.
    private func decodeOrSkip(_ contents: CollectionContents) {
        do throws(StorageError) { try decode(contents) } catch {
            guard let instance = column.owner._instance else { return }
            instance.reportDamage(column.owner, error, column: column.property.column)
            values.removeAll()
            keys.removeAll()
            places.removeAll()
            if error.isUnreadable { decodePastDamage(contents, instance) }
            place = contents.count
        }
    }

    private func decodePastDamage(_ contents: CollectionContents, _ instance: RealmInstance) {
        let found = ReadableElements(column, contents, from: place, isWhole: false, in: instance)
        do throws(StorageError) {
            if contents.tag.takesNested { try appendPlaces(found.contents, at: found.places, contents.view) }
            values = found.contents.values
            keys = found.contents.keys
        } catch {
            places.removeAll()
            instance.reportDamage(column.owner, error, column: column.property.column)
        }
    }

    private func decode(_ contents: CollectionContents) throws(StorageError) {
        guard place < contents.count else { return }
        var more = StoredCollection()
        try contents.append(from: place, atMost: Self.mostAtOnce, to: &more, isWhole: false)
        if contents.tag.takesNested {
            try appendPlaces(more, at: Array(place..<(place + more.values.count)), contents.view)
        }
        place += more.values.count
        values += more.values
        keys += more.keys
    }

    /// Locates inner collections at once: insertions before them change their steps.
    private func appendPlaces(
        _ more: StoredCollection, at standing: [Int], _ view: ReadView
    ) throws(StorageError) {
        for (index, value) in more.values.enumerated() {
            guard let isKeyed = NestedEncoding.isKeyed(value) else {
                places.append(nil)
                continue
            }
            let step: NestedSteps.Step = more.keys.isEmpty ? .index(standing[index]) : .key(more.keys[index])
            let there =
                self.standing?.inner(step, isKeyed: isKeyed) ?? NestedSteps(steps: [step], isKeyed: isKeyed)
            places.append(try column.place(there, in: view))
        }
    }

    /// Decodes the rest, because the collection is about to change.
    func settle() {
        if isOver { return }
        var (all, names) = (Array(values[position...]), keys.isEmpty ? [] : Array(keys[position...]))
        var inner = places.isEmpty ? [] : Array(places[position...])
        while decodeMore() {
            all += values
            names += keys
            inner += places
        }
        (values, keys, places, position) = (all, names, inner, 0)
    }

    private func end() {
        isOver = true
        version = nil
        known?.remove(self)
        known = nil
    }

    func isOf(_ table: Int, _ key: Int64, _ position: Int) -> Bool {
        column.owner._key == key && column.owner._access.table == table && column.property.column == position
    }
}
