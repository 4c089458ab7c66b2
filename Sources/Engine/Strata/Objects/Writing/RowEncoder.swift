import StrataStorage

extension ObjectBase {
    /// Whether a single-word field holds a reference to an object or a collection, and not one of the small numbers
    /// that stand for none: no object has an address in the first page of memory.
    @inline(__always)
    func _holdsReference(_ offset: Int) -> Bool { _field(offset).load(as: UInt.self) >= 4096 }
}

/// Makes the cells of a new row from an object's fields.
///
/// The bytes of small strings are borrowed from the object; others are copied to scratch memory, whose address is
/// stable until the row is written. One per Realm: a row is encoded after all objects it leads to were added, so the
/// encoder is never used for two rows at once.
public final class _RowEncoder {
    unowned(unsafe) let instance: RealmInstance
    @exclusivity(unchecked) private(set) var cells: UnsafeMutablePointer<Cell>
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var scratch = ScratchBytes()
    @exclusivity(unchecked) private var current: Unmanaged<ObjectBase>?
    /// Unmanaged objects to which the object being added leads, in the order of its fields.
    @exclusivity(unchecked) private var targets: [ObjectBase] = []

    init(_ instance: RealmInstance) {
        self.instance = instance
        capacity = 32
        cells = .allocate(capacity: capacity)
    }

    deinit { cells.deallocate() }

    /// Fails the write if a row is being encoded already: a custom type's conversion, which is the program's code, adds
    /// an object of this class.
    /// - Returns: whether it does.
    func refusesInner(_ access: ClassAccess) -> Bool {
        if current == nil { return false }
        instance.fail(
            RealmError(
                .wrongState,
                "a \(access.name) is added by persistableValue, while another object is being stored; add it before "
                    + "that object"))
        return true
    }

    /// A cell for each column of the class's table, from the fields of `object`. Valid until the next row is encoded,
    /// and while the object lives. Fails the write as ``refusesInner(_:)`` does.
    func encode(_ object: ObjectBase, _ access: ClassAccess) -> UnsafeBufferPointer<Cell> {
        if refusesInner(access) { return UnsafeBufferPointer(start: cells, count: 0) }
        reserve(access.columnCount)
        scratch.clear()
        current = .passUnretained(object)
        defer { current = nil }
        let start = Unmanaged.passUnretained(object).toOpaque()
        access.encodings.withUnsafeBufferPointer { encodings in
            for encoding in encodings {
                encode(start + Int(encoding.offset), encoding, access)
            }
        }
        return UnsafeBufferPointer(start: cells, count: access.columnCount)
    }

    @inline(__always)
    private func encode(_ field: UnsafeMutableRawPointer, _ encoding: FieldEncoding, _ access: ClassAccess) {
        let column = Int(encoding.column)
        switch encoding.code {
        case .int:
            cells[column] = .integer(Int64(field.assumingMemoryBound(to: Int?.self).pointee ?? 0))
        case .optionalInt:
            let value = field.assumingMemoryBound(to: Int??.self).pointee ?? nil
            cells[column] = value.map { .integer(Int64($0)) } ?? .null
        case .double:
            cells[column] = .double(field.assumingMemoryBound(to: Double?.self).pointee ?? 0)
        case .optionalDouble:
            let value = field.assumingMemoryBound(to: Double??.self).pointee ?? nil
            cells[column] = value.map { .double($0) } ?? .null
        case .bool:
            cells[column] = .integer(field.assumingMemoryBound(to: Bool?.self).pointee ?? false ? 1 : 0)
        case .string:
            cells[column] = text(field, field.assumingMemoryBound(to: String?.self).pointee ?? "")
        case .optionalString:
            let value = field.assumingMemoryBound(to: String??.self).pointee ?? nil
            cells[column] = value.map { text(field, $0) } ?? .null
        case .link where field.load(as: UInt.self) < 4096:
            cells[column] = .null
        case .collection where field.load(as: UInt.self) < 4096:
            cells[column] = .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
        case .link, .collection, .other:
            access.plan?.fields[Int(encoding.field)].field.encode(field, self, column)
        }
    }

    /// The cell of a string. Its bytes are borrowed if they are in the field itself.
    @inline(__always)
    private func text(_ field: UnsafeMutableRawPointer, _ value: String) -> Cell {
        if let count = SmallString.count(at: field) {
            return .bytes(UnsafeRawBufferPointer(start: field, count: count))
        }
        return scratch.append(value)
    }

    /// A cell for each value. Valid until the next row is encoded.
    /// - Precondition: no row is being encoded; see ``refusesInner(_:)``.
    func encode(_ values: [_StoredValue]) -> UnsafeBufferPointer<Cell> {
        reserve(values.count)
        scratch.clear()
        for (column, value) in values.enumerated() { put(value, column) }
        return UnsafeBufferPointer(start: cells, count: values.count)
    }

    func put(_ value: _StoredValue, _ column: Int) {
        switch value {
        case .null: cells[column] = .null
        case .integer(let integer), .link(let integer): cells[column] = .integer(integer)
        case .double(let double): cells[column] = .double(double)
        case .text(let text): cells[column] = scratch.append(text)
        case .bytes(let bytes): put(bytes, column)
        case .decimal(let decimal): put(decimal.storedBytes, column)
        }
    }

    func put(_ bytes: [UInt8], _ column: Int) { cells[column] = scratch.append(bytes) }

    /// Notes the target of a link if it is unmanaged: it is added, and has a key, before its owner's row is encoded.
    func addTarget(_ target: ObjectBase) {
        if target._frame == nil && !target._isBeingAdded { targets.append(target) }
    }

    func takeTargets() -> [ObjectBase] {
        if targets.isEmpty { return [] }
        defer { targets.removeAll() }
        return targets
    }

    /// Encodes a link. If the target has no row yet, the cell is null, and the link is set when all rows exist.
    func putLink(_ target: ObjectBase, _ column: Int) {
        cells[column] = .null
        if target._frame == nil {
            postpone(column) { instance in instance.linkKey(of: target).map { .link($0.rawValue) } }
        } else if let key = instance.linkKey(of: target) {
            guard !target._access.isEmbedded || instance.write?.adopt([key.rawValue], over: [], target._access) != nil
            else {
                return
            }
            cells[column] = .integer(key.rawValue)
        }
    }

    /// Encodes a collection. If one of its objects has no row yet, the cell is empty, and the elements are set when all
    /// rows exist.
    func putCollection<Collection: _ColumnCollection>(_ collection: Collection, _ column: Int) {
        cells[column] = .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
        let shape = Collection._shape
        let objects = collection._column == nil ? collection._unmanagedObjects : []
        // Elements of a custom type that is stored as embedded objects, or as values of any type: the objects are made
        // when the elements are encoded, so they are added after their owner, too.
        let isMade =
            collection._column == nil
            && (shape.type == .object && objects.count != collection.elementCount
                || shape.type == .any && shape.customType != nil)
        if isMade || objects.contains(where: { $0._frame == nil }) {
            // A copy, because the collection is bound to the column before the column is written.
            let copy = collection.copied()
            return postpone(column) { instance in
                .bytes(copy._encoded(_ElementContext(instance: instance, target: nil), shape))
            }
        }
        let bytes = collection._encoded(_ElementContext(instance: instance, target: nil), shape)
        if shape.type == .object, shape.objectType is EmbeddedObject.Type,
            let target = shape.objectType.flatMap({ instance.access(for: $0) }),
            instance.write?.adopt(LinkPayload.keys(bytes), over: [], target) == nil
        {
            return
        }
        put(bytes, column)
    }

    /// Sets a column of the row that is being encoded later, when all rows exist.
    /// - Parameter value: makes the value then; nil, with the write failed, if it cannot.
    func postpone(_ column: Int, _ value: @escaping (RealmInstance) -> _StoredValue?) {
        guard let owner = current?.takeUnretainedValue() else { return }
        instance.write?.postpone { [unowned instance] in
            if let value = value(instance) {
                instance.store(in: owner, access: owner._access, column: column, value: value)
            }
        }
    }

    private func reserve(_ count: Int) {
        guard count > capacity else { return }
        cells.deallocate()
        capacity = count
        cells = .allocate(capacity: capacity)
    }
}

extension LinkPayload {
    /// The links of a payload that are not null.
    static func keys(_ bytes: [UInt8]) -> [Int64] {
        bytes.withUnsafeBytes { Reader($0)?.links.filter { $0 != null } ?? [] }
    }
}

/// Bytes with stable addresses until they are cleared.
struct ScratchBytes: ~Copyable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    private var block = 0
    private var used = 0

    deinit {
        for block in blocks { block.deallocate() }
    }

    mutating func clear() {
        block = 0
        used = 0
    }

    mutating func append(_ text: String) -> Cell {
        var text = text
        return text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ bytes: [UInt8]) -> Cell { bytes.withUnsafeBytes { append($0) } }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) -> Cell {
        while block < blocks.count && blocks[block].count - used < bytes.count {
            block += 1
            used = 0
        }
        if block == blocks.count {
            blocks.append(.allocate(byteCount: max(4096, bytes.count), alignment: 16))
            used = 0
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: blocks[block][used..<(used + bytes.count)])
        room.copyMemory(from: bytes)
        used += bytes.count
        return .bytes(UnsafeRawBufferPointer(room))
    }
}
