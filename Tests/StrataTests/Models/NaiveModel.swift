import Foundation

@testable import Strata

// Foundation has types of these names too.
typealias Predicate = Strata.Predicate
typealias SortDescriptor = Strata.SortDescriptor

/// The value of a property, in a model without columns and indexes.
indirect enum NaiveValue: Equatable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes([UInt8])
    case link(Int64)
    case list([NaiveValue])
    case map([String: NaiveValue])

    init(_ stored: _StoredValue) {
        switch stored {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .bytes(value)
        case .link(let value): self = .link(value)
        case .decimal(let value): self = .double(value.doubleValue)
        }
    }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}

/// Objects of one class in a dictionary, and a naive evaluation of queries.
struct NaiveModel {
    var rows: [Int64: [String: NaiveValue]] = [:]
    /// Properties that are the inverse of another.
    var inverses: [String: String] = [:]
    static let collections = [
        "ints", "texts", "ratios", "prices", "friends", "linkedBy", "friendOf", "scores", "words", "pals", "@allKeys",
        "@allValues",
    ]
    /// The keys of the objects that link to an object, by inverse property and by that object's key.
    private var origins: [String: [Int64: [Int64]]] = [:]

    /// Finds the values of all inverse properties; the caller has added all rows before.
    mutating func indexInverses() {
        origins = [:]
        for (name, property) in inverses {
            for origin in rows.keys.sorted() {
                var targets = [rows[origin]?[property] ?? .null]
                if case .list(let list) = targets[0] { targets = list }
                for case .link(let key) in targets { origins[name, default: [:]][key, default: []].append(origin) }
            }
        }
    }

    func matches(_ predicate: Predicate) -> [Int64] {
        rows.keys.sorted().filter { holds(predicate, ["": $0]) }
    }

    func holds(_ predicate: Predicate, _ scope: [String: Int64]) -> Bool {
        switch predicate {
        case .constant(let value): value
        case .tooDeep: false
        case .not(let inner): !holds(inner, scope)
        case .and(let parts): parts.allSatisfy { holds($0, scope) }
        case .or(let parts): parts.contains { holds($0, scope) }
        case .comparison(let comparison): holds(comparison, scope)
        }
    }

    private func holds(_ comparison: Predicate.Comparison, _ scope: [String: Int64]) -> Bool {
        let left = values(comparison.left, scope)
        let right = values(comparison.right, scope)
        var comparator = comparison.comparator
        if comparator == .contains, !comparison.isQuantified, case .path(let path) = comparison.left,
            path.names.last.map(Self.collections.contains) == true
        {
            comparator = .equal
        }
        func one(_ value: NaiveValue) -> Bool {
            switch comparator {
            case .between:
                right.count == 2 && Self.compare(.greaterOrEqual, value, right[0], comparison.options)
                    && Self.compare(.lessOrEqual, value, right[1], comparison.options)
            case .isIn: right.contains { equal(value, $0, comparison.options) }
            default: right.contains { Self.compare(comparator, value, $0, comparison.options) }
            }
        }
        switch comparison.quantifier {
        case .any: return left.contains(where: one)
        case .all: return left.allSatisfy(one)
        case .none: return !left.contains(where: one)
        }
    }

    // MARK: Operands

    func values(_ expression: Predicate.Expression, _ scope: [String: Int64]) -> [NaiveValue] {
        switch expression {
        case .path(let path): return values(path, scope)
        case .aggregate(let path, let aggregate): return [Self.aggregate(aggregate, values(path, scope))]
        case .subquery(let path, let variable, let inner):
            let count = values(path, scope).filter { value in
                guard case .link(let key) = value else { return false }
                var deeper = scope
                deeper[variable] = key
                return holds(inner, deeper)
            }.count
            return [.integer(Int64(count))]
        case .value(let constant): return [NaiveValue(constant.stored)]
        case .object(let object): return object.isInvalidated ? [.link(.min)] : [.link(object._key)]
        case .values(let parts): return parts.flatMap { values($0, scope) }
        case .members, .shape: return []
        }
    }

    func values(_ path: Predicate.Path, _ scope: [String: Int64]) -> [NaiveValue] {
        let key = scope[path.variable ?? ""] ?? 0
        // A map with a key has a single value.
        let isMany = path.names.indices.contains { place in
            let isEntry = place + 1 < path.names.count && path.names[place + 1].hasPrefix("[")
            return Self.collections.contains(path.names[place]) && !isEntry
        }
        return follow(path.names[...], key, isSingle: !isMany)
    }

    private func follow(_ names: ArraySlice<String>, _ key: Int64, isSingle: Bool) -> [NaiveValue] {
        guard let name = names.first else { return [.link(key)] }
        let found: [NaiveValue]
        var names = names
        if inverses[name] != nil {
            found = (origins[name]?[key] ?? []).map { .link($0) }
        } else {
            switch rows[key]?[name] {
            case .list(let list)?: found = list
            case .map(let map)?:
                switch names.dropFirst().first.flatMap(Predicate.MapPart.init) {
                case .keys?: found = map.keys.sorted().map { .text($0) }
                case .entry(let key)?: found = [map[key] ?? .null]
                case .values?, .index?, .each?, nil: found = Array(map.values)
                }
                if names.dropFirst().first.flatMap(Predicate.MapPart.init) != nil { names.removeFirst() }
            case let value?: found = [value]
            case nil: found = [.null]
            }
        }
        if names.count == 1 { return found }
        return found.flatMap { value -> [NaiveValue] in
            if case .link(let next) = value { return follow(names.dropFirst(), next, isSingle: isSingle) }
            return isSingle ? [.null] : []
        }
    }

    private static func aggregate(_ aggregate: Predicate.Aggregate, _ values: [NaiveValue]) -> NaiveValue {
        if aggregate == .count { return .integer(Int64(values.count)) }
        let present = values.filter { $0 != .null }
        let numbers = present.compactMap(\.number)
        switch aggregate {
        case .sum, .count:
            let integers = present.compactMap { value -> Int64? in
                if case .integer(let integer) = value { return integer }
                return nil
            }
            return integers.count == present.count
                ? .integer(integers.reduce(0, &+)) : .double(numbers.reduce(0, +))
        case .avg: return numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
        case .min: return numbers.filter { !$0.isNaN }.min().map { .double($0) } ?? .null
        case .max: return numbers.filter { !$0.isNaN }.max().map { .double($0) } ?? .null
        }
    }

    // MARK: Comparing

    private static func compare(
        _ comparator: Predicate.Comparator, _ a: NaiveValue, _ b: NaiveValue, _ options: TextOptions
    ) -> Bool {
        let model = NaiveModel()
        let a = folded(a, options)
        let b = folded(b, options)
        switch comparator {
        case .equal: return model.equal(a, b, [])
        case .notEqual: return !model.equal(a, b, [])
        case .less: return model.comparable(a, b) && model.less(a, b)
        case .lessOrEqual: return a == .null && b == .null || model.comparable(a, b) && !model.less(b, a)
        case .greater: return isText(a) && b == .null || model.comparable(a, b) && model.less(b, a)
        case .greaterOrEqual:
            if b == .null { return a == .null || isText(a) }
            return model.comparable(a, b) && !model.less(a, b)
        default: break
        }
        guard let text = bytes(a), let part = bytes(b) else { return false }
        switch comparator {
        case .beginsWith: return Array(text.prefix(part.count)) == part
        case .endsWith: return Array(text.suffix(part.count)) == part
        case .contains: return (0...text.count).contains { Array(text[$0...].prefix(part.count)) == part }
        case .like: return like(String(decoding: text, as: UTF8.self)[...], String(decoding: part, as: UTF8.self)[...])
        default: return false
        }
    }

    private static func isText(_ value: NaiveValue) -> Bool {
        if case .text = value { return true }
        return false
    }

    private static func like(_ text: Substring, _ pattern: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return like(text, pattern.dropFirst()) || !text.isEmpty && like(text.dropFirst(), pattern)
        }
        guard let letter = text.first else { return false }
        return (first == "?" || first.utf8.elementsEqual(letter.utf8)) && like(text.dropFirst(), pattern.dropFirst())
    }

    private static func bytes(_ value: NaiveValue) -> [UInt8]? {
        switch value {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        default: nil
        }
    }

    static func folded(_ value: NaiveValue, _ options: TextOptions) -> NaiveValue {
        guard case .text(var text) = value, !options.isEmpty else { return value }
        text = text.decomposedStringWithCanonicalMapping
        if options.contains(.ignoringDiacritics) {
            text.unicodeScalars.removeAll { (0x300...0x36F).contains($0.value) }
        }
        if options.contains(.ignoringCase) { text = text.lowercased().uppercased().lowercased() }
        return .text(text.precomposedStringWithCanonicalMapping)
    }

    private func comparable(_ a: NaiveValue, _ b: NaiveValue) -> Bool {
        if let a = a.number, let b = b.number { return !a.isNaN && !b.isNaN }
        return Self.bytes(a) != nil && Self.bytes(b) != nil
    }

    func less(_ a: NaiveValue, _ b: NaiveValue) -> Bool {
        if case .integer(let a) = a, case .integer(let b) = b { return a < b }
        if let a = a.number, let b = b.number { return a < b }
        guard let a = Self.bytes(a), let b = Self.bytes(b) else { return false }
        return a.lexicographicallyPrecedes(b)
    }

    func equal(_ a: NaiveValue, _ b: NaiveValue, _ options: TextOptions) -> Bool {
        let a = Self.folded(a, options)
        let b = Self.folded(b, options)
        if case .integer(let a) = a, case .integer(let b) = b { return a == b }
        if let a = a.number, let b = b.number { return a == b }
        if let a = Self.bytes(a), let b = Self.bytes(b) { return a == b }
        return a == b
    }
}
