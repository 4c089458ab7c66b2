import StrataStorage

/// An ordered collection of objects or plain values; duplicates are allowed.
///
///     final class Person: Object {
///         @Persisted var dogs: List<Dog>
///         @Persisted var nicknames: List<String>
///     }
///
/// Unmanaged until its owner is added. A managed list holds nothing: it reads and writes its owner's column. Changing
/// it rewrites the column, so append many elements at once: O(count) per change.
public final class List<Element: RealmCollectionValue>: RealmCollection {
    private var unmanaged: [Element] = []
    private(set) var owner: ObjectBase?
    /// Position in the owner's properties.
    private var position = 0

    public init() {}

    init(_ owner: ObjectBase, position: Int) {
        self.owner = owner
        self.position = position
    }

    /// The owner became managed: the elements are in its column now.
    func bind(_ owner: ObjectBase, position: Int) {
        self.owner = owner
        self.position = position
        unmanaged.removeAll()
    }

    public var realm: Realm? { owner?.realm }
    public var isInvalidated: Bool { owner?.isInvalidated ?? false }
    public static func _make(_ source: ObjectSource) -> Self? {
        guard case .list(let owner, let property) = source.base else { return nil }
        return Self(owner, property)
    }

    private convenience init(_ owner: ObjectBase, _ position: Int) { self.init(owner, position: position) }

    public var _source: ObjectSource? {
        guard let owner, let target = context.target else { return nil }
        return ObjectSource(target, .list(owner, property: position))
    }

    // MARK: Reading

    private var property: BoundProperty? { owner.map { $0._access.properties[position] } }

    private var context: _ElementContext {
        guard let owner, let property else { return .unmanaged }
        return _ElementContext(
            instance: owner._instance, target: property.tag.type == .object ? owner._access.target(of: property) : nil)
    }

    /// - Complexity: O(1) for objects and unmanaged lists, O(count) for plain values.
    public var count: Int {
        guard owner != nil else { return unmanaged.count }
        return withBytes(0) { bytes in
            Element._elementShape.type == .object
                ? LinkPayload.Reader(bytes)?.count : ListEncoding.decode(bytes)?.count
        }
    }

    /// The element at a place; behind the end as ``Results``.
    public subscript(position: Int) -> Element {
        get {
            guard owner != nil else { return unmanaged[position] }
            if let value = stored(at: position), let element = Element._decodeElement(value, context) { return element }
            let context = context
            context.instance?.report(
                owner?._access.name ?? "", owner?._key,
                "index \(position) is out of range: the list has \(count) elements")
            return Element._substituteElement(context)
        }
        set { replace(index: position, object: newValue) }
    }

    private func stored(at place: Int) -> _StoredValue? {
        withBytes(nil) { bytes -> _StoredValue?? in
            if Element._elementShape.type == .object {
                guard let reader = LinkPayload.Reader(bytes) else { return nil }
                return place >= 0 && place < reader.count ? .link(reader[place]) : .some(nil)
            }
            guard let values = ListEncoding.decode(bytes) else { return nil }
            return values.indices.contains(place) ? values[place] : .some(nil)
        }
    }

    /// Walks the elements of this moment.
    public func makeIterator() -> AnyIterator<Element> {
        guard owner != nil else {
            var inner = unmanaged.makeIterator()
            return AnyIterator { inner.next() }
        }
        var values = storedValues().makeIterator()
        let context = context
        return AnyIterator { values.next().flatMap { Element._decodeElement($0, context) } }
    }

    /// What the column holds.
    func storedValues() -> [_StoredValue] {
        guard owner != nil else { return unmanaged.map { $0._encodeElement(.unmanaged) } }
        return withBytes([]) { bytes in
            Element._elementShape.type == .object
                ? LinkPayload.Reader(bytes)?.links.map { .link($0) } : ListEncoding.decode(bytes)
        }
    }

    /// Calls `body` with the column's bytes; `otherwise` when the owner is gone or the bytes are damaged.
    private func withBytes<Value>(_ otherwise: Value, _ body: (UnsafeRawBufferPointer) -> Value?) -> Value {
        guard let owner, let property, let instance = owner._instance else { return otherwise }
        instance.checkConfinement()
        guard property.column >= 0, owner._isCurrent || owner._relocate(), let view = instance.currentView,
            let location = owner._location
        else { return otherwise }
        do throws(StorageError) {
            guard let bytes = try view.bytes(location, property.column) else { return otherwise }
            if let value = body(bytes) { return value }
            throw .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
        } catch {
            instance.reportDamage(owner, error)
            return otherwise
        }
    }

    // MARK: Writing

    /// Rewrites the list. All changes come through here.
    private func change(_ body: (inout [_StoredValue], _ElementContext) -> Void) {
        guard let owner, let property, let instance = owner._instance else { return }
        let access = owner._access
        guard instance.requireWrite(access) != nil else { return }
        if let error = access.tryRelocate(owner) { return instance.fail(error) }
        var values = storedValues()
        body(&values, context)
        instance.store(owner, access, property.column, .bytes(Self.encode(values)))
    }

    static func encode(_ values: [_StoredValue]) -> [UInt8] {
        if Element._elementShape.type != .object { return ListEncoding.encode(values) }
        return LinkPayload.encode(
            values.compactMap { value in
                if case .link(let key) = value { return key }
                return nil
            })
    }

    public func append(_ object: Element) {
        guard owner != nil else { return unmanaged.append(object) }
        change { values, context in values.append(object._encodeElement(context)) }
    }

    public func append<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        guard owner != nil else { return unmanaged.append(contentsOf: objects) }
        change { values, context in values += objects.map { $0._encodeElement(context) } }
    }

    public func insert(_ object: Element, at index: Int) {
        guard owner != nil else { return unmanaged.insert(object, at: index) }
        change { values, context in values.insert(object._encodeElement(context), at: index) }
    }

    public func remove(at index: Int) {
        guard owner != nil else {
            unmanaged.remove(at: index)
            return
        }
        change { values, _ in values.remove(at: index) }
    }

    /// Removes the first occurrence of an element; nothing when there is none.
    public func remove(_ object: Element) {
        if let index = firstIndex(of: object) { remove(at: index) }
    }

    public func remove(atOffsets offsets: some Sequence<Int>) {
        for index in offsets.sorted(by: >) { remove(at: index) }
    }

    public func removeFirst() { if !isEmpty { remove(at: 0) } }
    public func removeLast() { if !isEmpty { remove(at: count - 1) } }

    public func removeAll() {
        guard owner != nil else { return unmanaged.removeAll() }
        change { values, _ in values.removeAll() }
    }

    public func replace(index: Int, object: Element) {
        guard owner != nil else {
            unmanaged[index] = object
            return
        }
        change { values, context in values[index] = object._encodeElement(context) }
    }

    public func move(from: Int, to: Int) {
        guard owner != nil else { return unmanaged.insert(unmanaged.remove(at: from), at: to) }
        change { values, _ in values.insert(values.remove(at: from), at: to) }
    }

    public func swapAt(_ a: Int, _ b: Int) {
        guard owner != nil else { return unmanaged.swapAt(a, b) }
        change { values, _ in values.swapAt(a, b) }
    }

    public func replaceSubrange<Elements: Collection>(_ range: Range<Int>, with objects: Elements)
    where Elements.Element == Element {
        guard owner != nil else { return unmanaged.replaceSubrange(range, with: objects) }
        change { values, context in values.replaceSubrange(range, with: objects.map { $0._encodeElement(context) }) }
    }

    /// Makes the list hold exactly these.
    func assign(_ objects: [Element]) {
        guard owner != nil else {
            unmanaged = objects
            return
        }
        change { values, context in values = objects.map { $0._encodeElement(context) } }
    }

    var unmanagedElements: [Element] { unmanaged }
}

extension List: ExpressibleByArrayLiteral {
    public convenience init(arrayLiteral elements: Element...) {
        self.init()
        append(objectsIn: elements)
    }
}

extension List: CustomStringConvertible {
    public var description: String { "List<\(Element.self)> [\(map { "\($0)" }.joined(separator: ", "))]" }
}

/// A list whose element type is not known.
protocol AnyList {
    var anyElements: [Any] { get }
}

extension List: AnyList {
    var anyElements: [Any] { map { $0 as Any } }
}

extension List: _Persistable {
    public static var _shape: _PropertyShape {
        var shape = Element._elementShape
        shape.collection = .list
        return shape
    }

    public static func _makeDefault() -> Self { Self() }

    private convenience init(_: Void) { self.init() }

    public static func _read(_ object: ObjectBase, _ offset: Int) -> Self {
        Self(object, object._access.position(ofOffset: offset))
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: List) {
        let list = List(object, position: object._access.position(ofOffset: offset))
        if value.owner === object && value.position == list.position { return }
        list.assign(Array(value))
    }

    public static func _encode(_ value: List, _ encoder: _RowEncoder, _ column: Int) {
        if Element._elementShape.type == .object {
            encoder.putLinks(value.compactMap { $0 as? ObjectBase }, column)
        } else {
            encoder.put(ListEncoding.encode(value.storedValues()), column)
        }
    }

    public static func _addTargets(_ value: List, _ encoder: _RowEncoder) {
        guard Element._elementShape.type == .object, value.owner == nil else { return }
        for element in value.unmanaged {
            if let object = element as? ObjectBase { encoder.addTarget(object) }
        }
    }

    /// The program may hold the list of the time before: it becomes a view of the column. The object lets go of it, so
    /// that list and object do not keep each other alive.
    public static func _bind(_ value: inout List?, _ object: ObjectBase, _ offset: Int) {
        value?.bind(object, position: object._access.position(ofOffset: offset))
        value = nil
    }

    public static func _fromAny(_ value: Any?) -> Self? {
        guard let value = _flatten(value) else { return Self() }
        if let same = value as? Self { return same }
        let elements = (value as? any AnyList)?.anyElements ?? (value as? [Any])
        guard let elements else { return nil }
        let list = Self()
        for element in elements {
            guard let made = _element(from: element) else { return nil }
            list.unmanaged.append(made)
        }
        return list
    }

    private static func _element(from value: Any) -> Element? {
        if let same = value as? Element { return same }
        if let type = Element.self as? any _Persistable.Type { return type._fromAny(value) as? Element }
        if let type = Element.self as? ObjectBase.Type { return type._wrappedFromAny(value) as? Element }
        return nil
    }
}
