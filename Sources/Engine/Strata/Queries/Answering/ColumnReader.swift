import StrataStorage

/// Reads one property, or one at the end of links, of many rows.
struct ColumnReader {
    private let instance: RealmInstance
    private let access: ClassAccess
    let path: BoundPath

    /// - Throws: `invalidInput` for an unknown name, and for a path with several values.
    init(_ instance: RealmInstance, _ access: ClassAccess, _ keyPath: String, to what: String) throws(RealmError) {
        let names = keyPath.split(separator: ".").map(String.init)
        path = try PredicateBinder.path(names, instance, access)
        guard path.isSingle else {
            throw RealmError(.invalidInput, "cannot \(what) '\(keyPath)': it has several values")
        }
        guard !path.steps.contains(where: { $0.isEntry || !$0.inside.isEmpty }) else {
            throw RealmError(.invalidInput, "cannot \(what) '\(keyPath)': keys and places are for conditions")
        }
        self.instance = instance
        self.access = access
    }

    /// Reads the property of an order. Nil if the order does not suit the class: a sort by it stops the program.
    static func ofSort(
        _ instance: RealmInstance, _ access: ClassAccess, _ descriptor: SortDescriptor
    ) -> ColumnReader? {
        do throws(RealmError) { return try ColumnReader(instance, access, descriptor.keyPath, to: "sort by") } catch {
            return nil
        }
    }

    /// Storage and type of the property; links and the row itself count as integers.
    var tag: ColumnTag? { path.steps.last?.property.tag }

    /// Calls `body` with the value of each key, in the order of the keys.
    ///
    /// - Parameter rowByRow: reads only the rows of the keys, and no batches of neighbouring rows.
    /// - Complexity: a pass over the column if the keys ascend and are many; else O(log rows) per key and link.
    func forEach(
        _ keys: [Int64], _ view: ReadView, rowByRow: Bool = false, _ body: (Value) -> Void
    ) throws(StorageError) {
        if !rowByRow, let column = path.ownStep?.property.column, column >= 0, let tag,
            try keys.count > view.rowCount(access.table) / 16, Self.ascend(keys)
        {
            return try scan(keys, column: column, tag: tag, in: view, body: body)
        }
        if path.ownStep?.property.column == Int(ColumnSlot.key) {
            for key in keys { body(.integer(key)) }
            return
        }
        if let step = path.ownStep, step.property.column >= 0, let tag {
            for key in keys {
                guard let location = try view.locate(access.table, RowKey(key)) else {
                    body(.null)
                    continue
                }
                try read(in: view, at: location, column: step.property.column, tag: tag, body: body)
            }
            return
        }
        let evaluator = PredicateEvaluator(instance, access, BoundPredicate.constant(true))
        for key in keys {
            switch try evaluator.single(path, of: key, view) ?? .null {
            case .null: body(.null)
            case let value where tag?.type == .any: body(.other(value))
            case .integer(let value), .link(let value): body(.integer(value))
            case .double(let value): body(.double(value))
            case .text(let text) where tag?.type == .string: Array(text.utf8).withUnsafeBytes { body(.bytes($0)) }
            case .bytes(let bytes): bytes.withUnsafeBytes { body(.bytes($0)) }
            case let other: body(.other(other))
            }
        }
    }

    /// The keys whose links lead to the object that has the property.
    func reaching(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64] {
        guard path.steps.count > 1 else { return keys }
        var links = path
        links.steps.removeLast()
        let evaluator = PredicateEvaluator(instance, access, BoundPredicate.constant(true))
        var reaching: [Int64] = []
        for key in keys {
            if case .link(let target)? = try evaluator.single(links, of: key, view), target != LinkPayload.null {
                reaching.append(key)
            }
        }
        return reaching
    }

    /// A value in the page: its bytes are valid only during the call that receives them.
    enum Value {
        case null
        case integer(Int64)
        case double(Double)
        case bytes(UnsafeRawBufferPointer)
        /// A value of a type that does not compare by its bytes.
        case other(_StoredValue)

        /// - Parameter view: the version of the bytes.
        init(_ bytes: UnsafeRawBufferPointer, _ tag: ColumnTag, _ view: ReadView) throws(StorageError) {
            guard tag.comparesByItself else {
                self = .bytes(bytes)
                return
            }
            let value = try view.shown(comparable: _StoredValue(bytes, tag))
            self = value.isNull ? .null : .other(value)
        }

        /// A copy; the tag is the type of the bytes.
        func stored(_ tag: ColumnTag?) -> _StoredValue {
            switch self {
            case .null: return .null
            case .integer(let value): return .integer(value)
            case .double(let value): return .double(value)
            case .bytes(let bytes): return tag.map { _StoredValue(bytes, $0) } ?? .bytes(Array(bytes))
            case .other(let value): return value
            }
        }
    }

    private static func ascend(_ keys: [Int64]) -> Bool {
        for place in 1..<max(keys.count, 1) where keys[place - 1] >= keys[place] { return false }
        return true
    }

    private func scan(
        _ keys: [Int64], column: Int, tag: ColumnTag, in view: ReadView, body: (Value) -> Void
    ) throws(StorageError) {
        var next = 0
        try view.scan(access.table, columns: [column], from: keys.first.map { RowKey($0) }) {
            (batch) throws(StorageError) -> Bool in
            for row in 0..<batch.count {
                // A key whose row is deleted has no value.
                while next < keys.count, keys[next] < batch.keys[row] {
                    body(.null)
                    next += 1
                }
                guard next < keys.count else { return false }
                guard keys[next] == batch.keys[row] else { continue }
                next += 1
                if batch.isNull(0, row) {
                    body(.null)
                    continue
                }
                switch tag.columnType {
                case .integer, .link: body(.integer(batch.integers(0)[row]))
                case .double: body(.double(batch.doubles(0)[row]))
                case .bytes, .links: body(try Value(batch.bytes(0, row), tag, view))
                }
            }
            return next < keys.count
        }
        while next < keys.count {
            body(.null)
            next += 1
        }
    }

    private func read(
        in view: ReadView, at location: RowLocation, column: Int, tag: ColumnTag, body: (Value) -> Void
    ) throws(StorageError) {
        switch tag.columnType {
        case .integer, .link: body(try view.integer(location, column).map { .integer($0) } ?? .null)
        case .double: body(try view.double(location, column).map { .double($0) } ?? .null)
        case .bytes, .links:
            let isThere: Void? = try view.withBytes(location, column: column) { (bytes) throws(StorageError) in
                body(try Value(bytes, tag, view))
            }
            if isThere == nil { body(.null) }
        }
    }
}
