/// A place in a text; line and column count from 1, the column in bytes.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}

/// An error of syntax, with its position.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package var message: String
    package var position: TextPosition

    package var description: String { "\(position): \(message)" }
}

/// A value of a document with its position: for files that people write, whose errors must name a place.
package struct JSONNode: Sendable {
    package enum Content: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case array([JSONNode])
        case object([Member])
    }

    package struct Member: Sendable {
        package var name: String
        package var namePosition: TextPosition
        package var value: JSONNode
    }

    package var content: Content
    package var position: TextPosition

    /// The value without its positions.
    package var value: JSONValue {
        switch content {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.value))
        case .object(let members): .object(members.map { JSONMember($0.name, $0.value.value) })
        }
    }

    /// A number of either kind; nil for anything else.
    package var number: Double? {
        switch content {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }
}
