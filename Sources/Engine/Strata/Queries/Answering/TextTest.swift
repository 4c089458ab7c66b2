/// A comparison of text or data with one operand that is the same for every row: prepared once, evaluated for each.
struct TextTest: Sendable {
    let comparator: Predicate.Comparator
    let options: TextOptions
    /// The operand, folded as the options say.
    private let part: [UInt8]
    private let isPartASCII: Bool
    /// For LIKE: the pattern in characters.
    private let pattern: [Character]

    /// Folds the operand, and splits a pattern into characters.
    init(_ comparator: Predicate.Comparator, _ part: [UInt8], _ options: TextOptions) {
        self.comparator = comparator
        self.options = options
        let folded = options.isEmpty ? part : part.withUnsafeBytes { TextFolding.fold($0, options) }
        self.part = folded
        isPartASCII = folded.withUnsafeBytes { TextFolding.isASCII($0) }
        pattern = comparator == .like ? Array(String(decoding: folded, as: UTF8.self)) : []
    }

    /// - Complexity: O(text) as a rule; O(text x part) at worst, for CONTAINS and LIKE.
    func holds(_ text: UnsafeRawBufferPointer) -> Bool {
        if options.isEmpty { return part.withUnsafeBytes { holds(text, $0, isASCII: false) } }
        if TextFolding.isASCII(text) {
            // ASCII folds to ASCII.
            if !isPartASCII, comparator != .like, !comparator.isOrdering { return comparator == .notEqual }
            if options.contains(.ignoringCase) {
                return withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 1) { folded in
                    for place in 0..<text.count { folded[place] = TextFolding.lowercased(text[place]) }
                    return part.withUnsafeBytes { holds(UnsafeRawBufferPointer(folded), $0, isASCII: true) }
                }
            }
            return part.withUnsafeBytes { holds(text, $0, isASCII: true) }
        }
        let folded = TextFolding.fold(text, options)
        return folded.withUnsafeBytes { text in part.withUnsafeBytes { holds(text, $0, isASCII: false) } }
    }

    private func holds(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer, isASCII: Bool) -> Bool {
        switch comparator {
        case .equal: return TextSearch.areEqual(text, part)
        case .notEqual: return !TextSearch.areEqual(text, part)
        case .less: return TextSearch.order(text, part) < 0
        case .lessOrEqual: return TextSearch.order(text, part) <= 0
        case .greater: return TextSearch.order(text, part) > 0
        case .greaterOrEqual: return TextSearch.order(text, part) >= 0
        case .contains: return TextSearch.contains(text, part)
        case .beginsWith:
            return text.count >= part.count
                && TextSearch.areEqual(UnsafeRawBufferPointer(rebasing: text[..<part.count]), part)
        case .endsWith:
            return text.count >= part.count
                && TextSearch.areEqual(UnsafeRawBufferPointer(rebasing: text[(text.count - part.count)...]), part)
        case .like:
            if isPartASCII, isASCII || TextFolding.isASCII(text), !text.contains(0x0D) {
                return TextSearch.like(text, part, { $0 == $1 }, star: 0x2A, one: 0x3F)
            }
            let characters = Array(String(decoding: text, as: UTF8.self))
            return TextSearch.like(
                characters, pattern, { $0.utf8.elementsEqual($1.utf8) }, star: "*", one: "?")
        case .isIn, .between, .within: return false
        }
    }
}

/// Search in text.
enum TextSearch {
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        var at = 0
        while at + 8 <= a.count {
            if a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                != b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            {
                return false
            }
            at += 8
        }
        while at < a.count {
            if a[at] != b[at] { return false }
            at += 1
        }
        return true
    }

    /// Negative, zero or positive if `a` is less than, equal to or greater than `b` by its bytes.
    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        for place in 0..<min(a.count, b.count) where a[place] != b[place] { return a[place] < b[place] ? -1 : 1 }
        return a.count - b.count
    }

    /// Whether `text` contains `part`. Every text contains an empty part.
    /// - Complexity: O(text x part) at worst, O(text) as a rule.
    static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        guard let first = part.first else { return true }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count) where text[start] == first {
            if areEqual(UnsafeRawBufferPointer(rebasing: text[start..<(start + part.count)]), part) { return true }
        }
        return false
    }

    /// `one` matches one element, `star` any number.
    /// - Complexity: O(text x pattern), without recursion.
    static func like<Text: RandomAccessCollection>(
        _ text: Text, _ pattern: Text, _ areEqual: (Text.Element, Text.Element) -> Bool, star: Text.Element,
        one: Text.Element
    ) -> Bool where Text.Index == Int, Text.Element: Equatable {
        var place = 0
        var at = 0
        var last: (pattern: Int, text: Int)?
        while place < text.count {
            if at < pattern.count, pattern[at] == star {
                last = (at, place)
                at += 1
            } else if at < pattern.count, pattern[at] == one || areEqual(pattern[at], text[place]) {
                at += 1
                place += 1
            } else if let known = last {
                at = known.pattern + 1
                place = known.text + 1
                last = (known.pattern, known.text + 1)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == star }
    }
}
