/// Makes output of a program safe for a terminal and a table: one line, without control sequences.
package enum PrintedText {
    /// Control characters, marks that change the text direction, line ends and invalid UTF-8 are written `\xHH`, byte
    /// by byte. All other text stays as it is.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        var rest = Array(bytes)[...]
        while let first = rest.first {
            let piece = rest.prefix(length(of: first))
            let character = String(decoding: piece, as: UTF8.self)
            if character.utf8.elementsEqual(piece), character.unicodeScalars.allSatisfy(isPlain) {
                text += character
                rest = rest.dropFirst(piece.count)
            } else {
                let digits = String(first, radix: 16, uppercase: true)
                text += "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
                rest = rest.dropFirst()
            }
        }
        return text
    }

    package static func escaped(_ text: String) -> String { escaped(Array(text.utf8)) }

    /// The length of a character in UTF-8, by its first byte.
    private static func length(of first: UInt8) -> Int {
        switch first {
        case 0xC0..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0...: 4
        default: 1
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return false
        case .format:
            // The marks for embedding, overriding and isolating a direction. Joiners stay, since some languages need
            // them.
            return !(0x202A...0x202E ~= scalar.value || 0x2066...0x2069 ~= scalar.value)
        default: return true
        }
    }
}
