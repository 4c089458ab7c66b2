import JSONText
import StrataStorage

/// How the values of a column are written for people and other programs, by the tag that the object layer gave it
/// (docs/file-format-objects.md).
struct ColumnText {
    /// Types by the words of docs/file-format-objects.md, or by storage's own if the tag names none.
    enum Shape: Equatable {
        case integer, bool, double, date, text, data, uuid, objectID, link, links, values
    }

    let name: String
    let shape: Shape

    init(_ column: ColumnDefinition) {
        name = column.name
        let type = column.tag & 0xFF
        let isCollection = column.tag >> 8 & 0xF != 0
        let isKnown = column.tag >> 14 == 0
        switch (column.type, type, isCollection && isKnown) {
        case (.link, _, _): shape = .link
        case (.links, _, _): shape = .links
        case (.bytes, _, true): shape = .values
        case (.integer, 1, _): shape = .bool
        case (.integer, _, _): shape = .integer
        case (.double, 4, _): shape = .date
        case (.double, _, _): shape = .double
        case (.bytes, 2, _) where isKnown: shape = .text
        case (.bytes, 10, _) where isKnown: shape = .objectID
        case (.bytes, 12, _) where isKnown: shape = .uuid
        case (.bytes, _, _): shape = .data
        }
    }

    var typeName: String {
        switch shape {
        case .integer: "integer"
        case .bool: "bool"
        case .double: "double"
        case .date: "date"
        case .text: "string"
        case .data: "data"
        case .uuid: "UUID"
        case .objectID: "ObjectId"
        case .link: "link"
        case .links: "links"
        case .values: "list of values"
        }
    }

    /// The value of a row of a batch; nil for null.
    func value(_ batch: RowBatch, _ column: Int, _ row: Int) -> JSONValue? {
        if batch.isNull(column, row) { return nil }
        switch shape {
        case .integer, .link: return .integer(batch.integers(column)[row])
        case .bool:
            let value = batch.integers(column)[row]
            return value == 0 || value == 1 ? .bool(value == 1) : .integer(value)
        case .double, .date: return .real(batch.doubles(column)[row])
        case .text: return Self.text(batch.bytes(column, row))
        case .data: return .string(Base64.text(batch.bytes(column, row)))
        case .uuid, .objectID: return identifier(batch.bytes(column, row))
        case .links: return Self.links(batch.bytes(column, row))
        case .values: return ListText.value(batch.bytes(column, row))
        }
    }

    /// Bytes that are no valid UTF-8 are written as base 64, and marked.
    static func text(_ bytes: UnsafeRawBufferPointer) -> JSONValue {
        if let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
        return .members([("base64", .string(Base64.text(bytes)))])
    }

    private func identifier(_ bytes: UnsafeRawBufferPointer) -> JSONValue {
        Self.identifier(bytes, shape == .uuid ? 12 : 10) ?? .members([("base64", .string(Base64.text(bytes)))])
    }

    /// A UUID (type 12) or an ObjectId (10) as it is printed; nil for anything else.
    static func identifier(_ bytes: UnsafeRawBufferPointer, _ type: UInt32) -> JSONValue? {
        guard type == 12 && bytes.count == 16 || type == 10 && bytes.count == 12 else { return nil }
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if type == 12 && [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: type == 12)
        }
        return .string(text)
    }

    private static func links(_ bytes: UnsafeRawBufferPointer) -> JSONValue {
        guard let reader = LinkPayload.Reader(bytes) else { return .members([("base64", .string(Base64.text(bytes)))]) }
        let keys = JSONValue.array(reader.links.map { $0 == LinkPayload.null ? .null : .integer($0) })
        if reader.extra.isEmpty { return keys }
        return .members([("keys", keys), ("base64", .string(Base64.text(reader.extra)))])
    }
}

/// Lists of values, as docs/file-format-objects.md lays them out.
enum ListText {
    static func value(_ bytes: UnsafeRawBufferPointer) -> JSONValue {
        if bytes.isEmpty { return .array([]) }
        return elements(bytes) ?? .members([("base64", .string(Base64.text(bytes)))])
    }

    private static func elements(_ bytes: UnsafeRawBufferPointer) -> JSONValue? {
        guard let list = ValueList(bytes) else { return nil }
        return .array(
            (0..<list.count).map { place in
                if list.isNull(place) { return .null }
                switch list.kind {
                case .integer8, .integer16, .integer32, .integer64: return .integer(list.integer(place))
                case .double: return .real(list.double(place))
                case .text: return ColumnText.text(list.element(place))
                case .data: return .string(Base64.text(list.element(place)))
                }
            })
    }
}
