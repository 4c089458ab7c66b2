#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a JSON text that a program gives: in UTF-8, as RFC 8259 asks, or in UTF-16 or UTF-32.
enum JSONInput {
    /// How deep objects and lists may be nested: nested values take stack when they are created and released.
    private static let deepest = 500

    /// Checks the whole text, then runs `body` with a cursor at its value.
    /// - Throws: ``Realm/Error`` with `invalidInput` for a text that is no JSON, with line and column; the error of
    ///   `body`.
    static func read<Result>(
        _ json: Data, _ body: (inout JSONCursor, TextLines) throws -> Result
    ) throws -> Result {
        guard let other = try utf8(json) else { return try json.withUnsafeBytes { try read($0, body) } }
        return try other.withUnsafeBytes { try read($0, body) }
    }

    private static func read<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (inout JSONCursor, TextLines) throws -> Result
    ) throws -> Result {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let lines = TextLines(bytes, from: start)
        do throws(JSONFault) {
            var check = JSONCheck(bytes, from: start, deepest: deepest)
            try check.run()
        } catch {
            throw Realm.Error(
                .invalidInput, "the JSON cannot be read: \(lines.position(of: error.offset)): \(error.message)")
        }
        var cursor = JSONCursor(bytes, at: start)
        return try body(&cursor, lines)
    }

    /// The text converted to UTF-8; nil if it is in UTF-8 already.
    ///
    /// A JSON text begins with two ASCII characters, or is a single one. Where the first four bytes are zero tells the
    /// encoding.
    private static func utf8(_ json: Data) throws(Realm.Error) -> [UInt8]? {
        let start = Array(json.prefix(4))
        func isZero(_ place: Int) -> Bool { place < start.count && start[place] == 0 }
        let isMarked16 = start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
        guard isMarked16 || start.contains(0) else { return nil }
        let isWide = isZero(0) && isZero(1) || isZero(2) && isZero(3)
        let isBig = isZero(0) || start.starts(with: [0xFE, 0xFF])
        let size = isWide ? 4 : 2
        var units: [UInt32] = []
        units.reserveCapacity(json.count / size)
        var unit: UInt32 = 0
        for (place, byte) in json.enumerated() {
            let shift = UInt32(8 * (isBig ? size - 1 - place % size : place % size))
            unit |= UInt32(byte) << shift
            if place % size == size - 1 {
                if unit != 0xFEFF || !units.isEmpty { units.append(unit) }
                unit = 0
            }
        }
        let text =
            isWide
            ? String(validating: units, as: UTF32.self)
            : String(validating: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
        guard let text, json.count % size == 0 else {
            throw Realm.Error(.invalidInput, "the JSON cannot be read: it is no UTF-\(8 * size); write it as UTF-8")
        }
        return Array(text.utf8)
    }
}

/// Finds the line and column of an offset, for messages.
struct TextLines {
    private let bytes: UnsafeRawBufferPointer
    private let start: Int

    /// - Parameter start: where the first line starts.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        self.bytes = bytes
        self.start = start
    }

    /// An offset as line and column, both counted from 1, the column in bytes.
    /// - Complexity: O(offset).
    func position(of offset: Int) -> String {
        let end = min(max(offset, start), bytes.count)
        var (line, lineStart) = (1, start)
        for place in start..<end where bytes[place] == UInt8(ascii: "\n") {
            line += 1
            lineStart = place + 1
        }
        return "line \(line), column \(end - lineStart + 1)"
    }
}
