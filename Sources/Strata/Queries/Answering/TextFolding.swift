@_spi(_Unicode) import Swift

/// What does not count when text is compared.
struct TextOptions: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    /// Upper and lower case, by the full case mappings of Unicode: `ß` is `SS`, and `ς` is `Σ`.
    static let ignoringCase = TextOptions(rawValue: 1)
    /// Accents: nonspacing marks that Unicode calls diacritics, so that the vowel signs of Indic scripts still count.
    static let ignoringDiacritics = TextOptions(rawValue: 2)
}

/// Text in the form in which it is compared when something does not count.
///
/// The form is: canonical decomposition, marks removed if they do not count, each scalar's lower, upper and again lower
/// case if case does not count, canonical composition. So text that only differs in how accents are encoded is equal
/// under either option, as it is to a reader; without options bytes are compared. It is the same in every locale:
/// `I` is `i` in Turkish too. Folding folded text changes nothing.
enum TextFolding {
    /// The form as UTF-8.
    /// - Complexity: O(text); a pass over the bytes when they are ASCII.
    static func fold(_ text: UnsafeRawBufferPointer, _ options: TextOptions) -> [UInt8] {
        if isASCII(text) {
            return options.contains(.ignoringCase) ? text.map(lowercased) : Array(text)
        }
        return fold(String(decoding: text, as: UTF8.self), options)
    }

    static func fold(_ text: String, _ options: TextOptions) -> [UInt8] {
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfd {
            if options.contains(.ignoringDiacritics), isDiacritic(scalar) { continue }
            #if Zoo
                if scalar.value >= 0x80, PlantedMistake.foldsASCIIAlone.isPlanted {
                    scalars.append(scalar)
                    continue
                }
            #endif
            if options.contains(.ignoringCase) { appendFolded(scalar, to: &scalars) } else { scalars.append(scalar) }
        }
        var composed = String.UnicodeScalarView()
        composed.append(contentsOf: String(scalars)._nfc)
        return Array(String(composed).utf8)
    }

    /// Eight bytes at a time.
    static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while at + 8 <= text.count {
            if text.loadUnaligned(fromByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            at += 8
        }
        while at < text.count {
            if text[at] >= 0x80 { return false }
            at += 1
        }
        return true
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }

    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.generalCategory == .nonspacingMark && scalar.properties.isDiacritic
    }

    /// Lower, upper, lower: what Unicode's case folding gives, up to the choice of one form. Only the dotless i, which
    /// has no partner in any folding, would be led astray.
    private static func appendFolded(_ scalar: Unicode.Scalar, to scalars: inout String.UnicodeScalarView) {
        if scalar.value < 0x80 {
            return scalars.append(Unicode.Scalar(lowercased(UInt8(scalar.value))))
        }
        if scalar.value == 0x131 { return scalars.append(scalar) }
        for lower in scalar.properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                scalars.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
    }
}
