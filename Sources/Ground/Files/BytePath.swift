import Platform

/// A path as the system has it: bytes other than 0. Names need not be UTF-8, and names that are canonically equivalent
/// in Unicode are different names.
package struct BytePath: Hashable, Sendable, Comparable {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The entry of that name in a directory.
    package func appending(_ name: BytePath) -> BytePath { BytePath(bytes + [UInt8(ascii: "/")] + name.bytes) }

    /// Its last component.
    package var name: BytePath {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return BytePath(Array(bytes[(slash + 1)...]))
    }

    package static func < (one: BytePath, other: BytePath) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    /// Calls `body` with the path as a C string.
    package func with<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                // A buffer of at least one byte has an address.
                guard let start = text.baseAddress else { preconditionFailure("a path without an end") }
                return body(start)
            }
        }
    }

    // MARK: As text

    /// The path for people: bytes that are not UTF-8, and control characters, are escaped.
    package var text: String { PrintedText.escaped(bytes) }

    private static func escape(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "\\x" + (digits.count < 2 ? "0" : "") + digits
    }

    /// ASCII text that is different for each path, as a key of tables: bytes beyond ASCII, and backslashes, are
    /// escaped.
    package var key: String {
        let isPlain = bytes.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\\") }
        if isPlain { return String(decoding: bytes, as: UTF8.self) }
        return bytes.reduce(into: "") { key, byte in
            if byte < 0x80, byte != UInt8(ascii: "\\") {
                key.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                key += Self.escape(byte)
            }
        }
    }

    /// The path of a ``key``.
    package init(key: String) {
        let text = Array(key.utf8)
        guard text.contains(UInt8(ascii: "\\")) else {
            bytes = text
            return
        }
        bytes = []
        var place = 0
        while place < text.count {
            if text[place] == UInt8(ascii: "\\"), place + 3 < text.count,
                let byte = UInt8(String(decoding: text[(place + 2)...(place + 3)], as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                place += 4
            } else {
                bytes.append(text[place])
                place += 1
            }
        }
    }
}
