extension Predicate.Comparator {
    /// Whether `value` compares to `operand` as the comparator requires.
    ///
    /// Null equals null, so `<=` and `>=` hold between two nulls; it has no other order, except that text is greater
    /// than null. NaN equals no value.
    /// - Parameter options: text of both sides is folded before it is compared.
    func holds(_ value: _StoredValue, _ operand: _StoredValue, _ options: TextOptions) -> Bool {
        switch self {
        case .equal: return equal(value, operand, options)
        case .notEqual: return !equal(value, operand, options)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return ordered(value, operand, options)
        case .contains, .beginsWith, .endsWith, .like:
            switch (value, operand) {
            case (.text(let text), .text(let part)): return test(Array(text.utf8), Array(part.utf8), options)
            case (.bytes(let bytes), .bytes(let part)): return test(bytes, part, [])
            default: return false
            }
        case .isIn, .between, .within: return false
        }
    }

    private func test(_ text: [UInt8], _ part: [UInt8], _ options: TextOptions) -> Bool {
        let test = TextTest(self, part, options)
        return text.withUnsafeBytes { test.holds($0) }
    }

    private func equal(_ a: _StoredValue, _ b: _StoredValue, _ options: TextOptions) -> Bool {
        if !options.isEmpty, case .text(let a) = a, case .text(let b) = b {
            return TextFolding.fold(a, options) == TextFolding.fold(b, options)
        }
        return a.matches(b)
    }

    private func ordered(_ a: _StoredValue, _ b: _StoredValue, _ options: TextOptions) -> Bool {
        switch (a, b) {
        case (.null, .null): return self == .lessOrEqual || self == .greaterOrEqual
        // All text is greater than null; null is not less than text.
        case (.text, .null): return self == .greater || self == .greaterOrEqual
        case (.text(let a), .text(let b)):
            return test(Array(a.utf8), Array(b.utf8), options)
        case (.bytes(let a), .bytes(let b)): return test(a, b, [])
        case (.integer(let a), .integer(let b)): return compare(a, b)
        case (.decimal, _), (_, .decimal):
            // Not converted to doubles, which would round.
            guard let first = a.number, let second = b.number, !first.isNaN, !second.isNaN else { return false }
            return compare(_StoredValue.precedes(a, b) ? -1 : _StoredValue.precedes(b, a) ? 1 : 0, 0)
        default:
            guard let a = a.number, let b = b.number else { return false }
            return compare(a, b)
        }
    }

    private func compare<Number: Comparable>(_ a: Number, _ b: Number) -> Bool {
        switch self {
        case .less: return a < b
        case .lessOrEqual: return a <= b
        case .greater: return a > b
        case .greaterOrEqual: return a >= b
        default: return false
        }
    }
}

extension AnyComparable {
    /// Values of different types differ, and have no order. All numbers are one type.
    static func holds(
        _ comparator: Predicate.Comparator, between value: _StoredValue, and operand: _StoredValue, options: TextOptions
    ) -> Bool {
        guard case .bytes(let a) = value, case .bytes(let b) = operand else {
            return comparator.holds(value, operand, options)
        }
        guard a.first == b.first else { return comparator == .notEqual }
        guard comparator.isTextual else { return comparator.holds(value, operand, []) }
        return a.first == PropertyType.data.rawValue
            && comparator.holds(.bytes(Array(a.dropFirst())), .bytes(Array(b.dropFirst())), [])
    }
}
