extension Predicate.Comparator {
    /// Whether `value` stands to `operand` as the comparator says. Null is equal to null and in no order.
    func holds(_ value: _StoredValue, _ operand: _StoredValue, ignoresCase: Bool) -> Bool {
        switch self {
        case .equal: return equal(value, operand, ignoresCase)
        case .notEqual: return !equal(value, operand, ignoresCase)
        case .less: return ordered(value, operand) && _StoredValue.precedes(value, operand)
        case .lessOrEqual: return ordered(value, operand) && !_StoredValue.precedes(operand, value)
        case .greater: return ordered(value, operand) && _StoredValue.precedes(operand, value)
        case .greaterOrEqual: return ordered(value, operand) && !_StoredValue.precedes(value, operand)
        case .contains, .beginsWith, .endsWith, .like:
            guard let text = Self.bytes(value, ignoresCase), let part = Self.bytes(operand, ignoresCase) else {
                return false
            }
            return matchesText(text, part)
        case .isIn, .between: return false
        }
    }

    private func matchesText(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        switch self {
        case .contains: return text.withUnsafeBytes { text in part.withUnsafeBytes { TextSearch.contains(text, $0) } }
        case .beginsWith: return text.starts(with: part)
        case .endsWith: return text.count >= part.count && text.suffix(part.count).elementsEqual(part)
        default:
            return TextSearch.like(
                Array(String(decoding: text, as: UTF8.self)), Array(String(decoding: part, as: UTF8.self)))
        }
    }

    private func equal(_ a: _StoredValue, _ b: _StoredValue, _ ignoresCase: Bool) -> Bool {
        if ignoresCase, case .text(let a) = a, case .text(let b) = b {
            return a.lowercased().utf8.elementsEqual(b.lowercased().utf8)
        }
        return a.matches(b)
    }

    private func ordered(_ a: _StoredValue, _ b: _StoredValue) -> Bool {
        if a.isNull || b.isNull { return false }
        if let a = a.number, let b = b.number { return !a.isNaN && !b.isNaN }
        return true
    }

    private static func bytes(_ value: _StoredValue, _ ignoresCase: Bool) -> [UInt8]? {
        switch value {
        case .text(let text): return Array((ignoresCase ? text.lowercased() : text).utf8)
        case .bytes(let bytes): return bytes
        default: return nil
        }
    }
}

/// Searching in text.
enum TextSearch {
    /// Whether `part` stands somewhere in `text`. An empty part is everywhere.
    /// - Complexity: O(text x part) at worst, O(text) as a rule.
    static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
        guard let first = part.first else { return true }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count) where text[start] == first {
            if part.indices.allSatisfy({ text[start + $0] == part[$0] }) { return true }
        }
        return false
    }

    /// `?` is one character, `*` any number.
    /// - Complexity: O(text x pattern).
    static func like(_ text: [Character], _ pattern: [Character]) -> Bool {
        var place = 0
        var at = 0
        var star: (pattern: Int, text: Int)?
        while place < text.count {
            if at < pattern.count, pattern[at] == "*" {
                star = (at, place)
                at += 1
            } else if at < pattern.count, pattern[at] == "?" || pattern[at] == text[place] {
                at += 1
                place += 1
            } else if let last = star {
                at = last.pattern + 1
                place = last.text + 1
                star = (last.pattern, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == "*" }
    }
}
