import JSONText
import StrataStorage

/// Writes the collections of a column as JSON: lists and sets as arrays, maps as objects. Both inline collections and
/// trees are written in pieces, whatever their size.
struct CollectionText {
    private let view: ReadView
    private let table: Int
    private let column: Int
    private let collection: CollectionColumn
    /// The type code in the column's tag (docs/file-format-objects.md); 0 for links.
    private let type: UInt32
    private let met: MetNodes

    /// Nil for a column without collections.
    /// - Parameter met: nodes that the walk over the rows has already visited.
    init?(_ view: ReadView, _ table: Int, column: Int, met: MetNodes) {
        let definition = view.schema.tables[table].columns[column]
        guard let collection = definition.collection else { return nil }
        self.view = view
        self.table = table
        self.column = column
        self.met = met
        self.collection = collection
        type = definition.type == .links ? 0 : definition.tag & 0xFF
    }

    /// - Parameter put: receives the text in pieces.
    func write(_ key: RowKey, _ put: ([UInt8]) throws -> Void) throws {
        try write(CollectionReader(view, table: table, key: key, column: column), put)
    }

    /// Writes a collection, with the collections in its elements.
    private func write(_ reader: CollectionReader, _ put: ([UInt8]) throws -> Void) throws {
        let isKeyed = reader.column.isKeyed
        try put(Array((isKeyed ? "{" : "[").utf8))
        var failure: (any Error)?
        try reader.forEachPart { (part) throws(StorageError) in
            try met.meet(part)
            var bytes: [UInt8] = []
            for place in part.first..<part.end {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                if isKeyed {
                    let key = try part.key(at: place)
                    if part.isLeaf { try met.count(key) }
                    bytes += name(key).bytes
                    bytes.append(UInt8(ascii: ":"))
                }
                if part.isLeaf, !part.isTree(at: place) { try met.count(try part.value(at: place)) }
                guard let inner = try reader.nested(at: place) else {
                    bytes += value(try part.value(at: place)).bytes
                    continue
                }
                do {
                    try put(bytes)
                    try write(inner, put)
                } catch {
                    failure = error
                    return false
                }
                bytes = []
            }
            do { try put(bytes) } catch {
                failure = error
                return false
            }
            return true
        }
        if let failure { throw failure }
        try put(Array((isKeyed ? "}" : "]").utf8))
    }

    /// The key of a map as the name of a member. A key that is no valid UTF-8 is written as base 64, and marked.
    private func name(_ key: Cell) -> JSONValue {
        if let text = String(validating: key.bytesValue, as: UTF8.self) { return .string(text) }
        return .string("base64:" + Base64.text(key.bytesValue))
    }

    private func value(_ cell: Cell) -> JSONValue {
        switch cell.kind {
        case .null: return .null
        case .integer:
            let value = cell.integerValue
            return type == 1 && (value == 0 || value == 1) ? .bool(value == 1) : .integer(value)
        case .double: return .real(cell.doubleValue)
        case .bytes:
            if collection.element == .text { return ColumnText.text(cell.bytesValue) }
            return ColumnText.identifier(cell.bytesValue, type) ?? .string(Base64.text(cell.bytesValue))
        }
    }
}
