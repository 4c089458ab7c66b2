@_spi(_Unicode) import Swift

/// Differences that a comparison of text ignores.
struct TextOptions: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    /// Upper and lower case, by the full case mappings of Unicode: `ß` is `SS`, and `ς` is `Σ`.
    static let ignoringCase = TextOptions(rawValue: 1)
    /// Accents: nonspacing marks that Unicode calls diacritics, so that the vowel signs of Indic scripts still count.
    static let ignoringDiacritics = TextOptions(rawValue: 2)
}

/// Folding: text in the form in which it is compared if some differences are ignored.
///
/// The form is: canonical decomposition, marks removed if accents are ignored, each scalar's lower, upper and again
/// lower case if case is ignored, canonical composition. So text that differs only in the encoding of accents is equal
/// under either option; without options bytes are compared. The form is the same in every locale: `I` is `i` in Turkish
/// too. Folding folded text changes nothing.
enum TextFolding {
    /// The folded text as UTF-8.
    /// - Complexity: O(text); a pass over the bytes if they are ASCII.
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

    /// Tests eight bytes at a time.
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

    /// Lower, upper, lower: Unicode's case folding, up to the choice of one form. The dotless i is kept: no folding
    /// maps it, and it would become `i`.
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
