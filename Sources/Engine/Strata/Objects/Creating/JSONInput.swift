#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a JSON text that a program gives: in UTF-8, as RFC 8259 asks, or in UTF-16 or UTF-32, with or without a byte
/// order mark.
enum JSONInput {
    /// How deep objects and lists may be nested: nested values take stack when they are created and released.
    private static let deepest = 500

    /// Checks the whole text, then runs `body` on the same thread with a cursor at its value. Cursor and lines point
    /// into the text in UTF-8, and are valid until `body` returns.
    /// - Throws: ``Realm/Error`` with `invalidInput`, before `body` runs: with line and column for a text that is no
    ///   JSON, has more text after its value, or is nested more than `deepest` deep; without them for a text that is no
    ///   UTF-16 or UTF-32 although its first bytes say so. Otherwise the error of `body`, unchanged.
    static func read<Result>(
        _ json: Data, _ body: (inout JSONCursor, TextLines) throws -> Result
    ) throws -> Result {
        guard let other = try utf8(json) else { return try json.withUnsafeBytes { try read($0, body) } }
        return try other.withUnsafeBytes { try read($0, body) }
    }

    /// - Parameter bytes: the text in UTF-8; a byte order mark at its beginning is skipped.
    private static func read<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (inout JSONCursor, TextLines) throws -> Result
    ) throws -> Result {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let lines = TextLines(bytes, from: start)
        do throws(JSONFault) {
            var check = JSONCheck(bytes, from: start, deepest: deepest)
            try check.run()
        } catch {
            throw RealmError(
                .invalidInput, "the JSON cannot be read: \(lines.position(of: error.offset)): \(error.message)")
        }
        var cursor = JSONCursor(bytes, at: start)
        return try body(&cursor, lines)
    }

    /// The text converted to UTF-8, without its byte order mark; nil if its first bytes tell of neither UTF-16 nor
    /// UTF-32.
    ///
    /// A JSON text begins with an ASCII character, after an optional byte order mark, and contains no NUL. So the mark
    /// of UTF-16, or the places of zeros among the first four bytes, tell the encoding. The size and the order of the
    /// units follow from these places and from the mark.
    /// - Throws: `invalidInput` if the bytes are no UTF-16 or UTF-32.
    private static func utf8(_ json: Data) throws(RealmError) -> [UInt8]? {
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
            throw RealmError(.invalidInput, "the JSON cannot be read: it is no UTF-\(8 * size); write it as UTF-8")
        }
        return Array(text.utf8)
    }
}

/// Finds the line and column of an offset in a text in UTF-8, for messages. A line ends with a line feed.
struct TextLines {
    private let bytes: UnsafeRawBufferPointer
    private let start: Int

    /// - Parameter start: where the first line starts.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        self.bytes = bytes
        self.start = start
    }

    /// An offset from the beginning of the bytes, as line and column: both counted from 1, the column in bytes of
    /// UTF-8.
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
