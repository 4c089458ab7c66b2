import Foundation
import Harness
import Measuring
import RunRecords

/// The rows of a case of the family `queries`, and the answers to its queries, computed naively.
struct ProbeModel {
    private(set) var rows: [Int64: ProbeRow] = [:]

    init(_ rows: [ProbeRow]) { store(rows, deleting: []) }

    var sorted: [ProbeRow] { rows.values.sorted { $0.id < $1.id } }

    mutating func store(_ changed: [ProbeRow], deleting deleted: [Int64]) {
        for row in changed { rows[row.id] = row }
        let gone = Set(deleted)
        for id in gone { rows[id] = nil }
        if gone.isEmpty { return }
        for (id, row) in rows {
            var row = row
            if let friend = row.friend, gone.contains(friend) { row.friend = nil }
            row.friends.removeAll { gone.contains($0) }
            rows[id] = row
        }
    }

    // MARK: Rows

    func select(_ query: ProbeQuery) -> [Int64] {
        var found = sorted.filter { holds(query.condition, $0) }
        if !query.sort.isEmpty { found.sort { precedes($0, $1, query.sort) } }
        if !query.distinct.isEmpty {
            var seen: Set<[Value]> = []
            found = found.filter { row in seen.insert(query.distinct.map { Self.canonical(value($0, row)) }).inserted }
        }
        if let limit = query.limit { found = Array(found.prefix(limit)) }
        return found.map(\.id)
    }

    /// Both zeros are one value, and so are all NaNs.
    private static func canonical(_ value: Value) -> Value {
        guard case .real(let real) = value else { return value }
        if real.isNaN { return .text("not a number") }
        return .real(real == 0 ? 0 : real)
    }

    private func value(_ column: ProbeColumn, _ row: ProbeRow?) -> Value {
        guard let row else { return .null }
        switch column {
        case .id: return .integer(row.id)
        case .number, .indexedNumber: return row.number.map { .integer($0) } ?? .null
        case .real, .indexedReal: return row.real.map { .real($0) } ?? .null
        case .text, .indexedText: return row.text.map { .text($0) } ?? .null
        }
    }

    private func precedes(_ a: ProbeRow, _ b: ProbeRow, _ sort: [ProbeQuery.Sort]) -> Bool {
        for key in sort {
            let (left, right) = (value(key.column, a), value(key.column, b))
            if Self.sorts(left, right) { return key.isAscending }
            if Self.sorts(right, left) { return !key.isAscending }
        }
        return a.id < b.id
    }

    /// Null, then NaN, then numbers and text.
    private static func sorts(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): false
        case (.null, _): true
        case (_, .null): false
        case (.real(let a), .real(let b)): a.isNaN ? !b.isNaN : a < b
        default: isLess(a, b)
        }
    }

    // MARK: Conditions

    func holds(_ condition: ProbeCondition, _ row: ProbeRow) -> Bool {
        switch condition {
        case .compare(let column, let comparison, let other):
            return Self.compare(value(column, row), comparison, other)
        case .oneOf(let column, let values):
            return values.contains { Self.compare(value(column, row), .equal, $0) }
        case .text(let column, let test, let other, let isFolded):
            guard case .text(let text) = value(column, row) else { return false }
            return isFolded
                ? Self.holds(test, Self.folded(text), Self.folded(other)) : Self.holds(test, text, other)
        case .friend(let column, let comparison, let other):
            return Self.compare(value(column, row.friend.flatMap { rows[$0] }), comparison, other)
        case .friends(let quantifier, let column, let comparison, let other):
            let answers = row.friends.map { Self.compare(value(column, rows[$0]), comparison, other) }
            switch quantifier {
            case .any: return answers.contains(true)
            case .none: return !answers.contains(true)
            case .all: return !answers.contains(false)
            }
        case .and(let parts): return parts.allSatisfy { holds($0, row) }
        case .or(let parts): return parts.contains { holds($0, row) }
        case .not(let part): return !holds(part, row)
        }
    }

    private static func compare(_ value: Value, _ comparison: ProbeComparison, _ other: Value) -> Bool {
        switch comparison {
        case .equal: isEqual(value, other)
        case .notEqual: !isEqual(value, other)
        case .less: isLess(value, other)
        case .lessOrEqual: isLess(value, other) || value != .null && isEqual(value, other)
        case .greater: isLess(other, value)
        case .greaterOrEqual: isLess(other, value) || value != .null && isEqual(value, other)
        }
    }

    private static func isEqual(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.real(let a), .real(let b)): a == b
        case (.real(let a), .integer(let b)), (.integer(let b), .real(let a)): a == Double(b)
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        default: a == b
        }
    }

    private static func isLess(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): a < b
        case (.real(let a), .real(let b)): a < b
        case (.real(let a), .integer(let b)): a < Double(b)
        case (.integer(let a), .real(let b)): Double(a) < b
        case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        default: false
        }
    }

    // MARK: Text

    /// Full case mapping between two normalizations, as the documentation of the queries says.
    private static func folded(_ text: String) -> String {
        // Down, up and down again: a capital sharp s has a small letter, whose capital is two letters.
        text.decomposedStringWithCanonicalMapping.lowercased().uppercased().lowercased()
            .precomposedStringWithCanonicalMapping
    }

    private static func holds(_ test: ProbeTextTest, _ text: String, _ other: String) -> Bool {
        let (own, part) = (Array(text.utf8), Array(other.utf8))
        switch test {
        case .equal: return own == part
        case .begins: return own.starts(with: part)
        case .ends: return own.reversed().starts(with: part.reversed())
        case .contains:
            guard part.count <= own.count else { return false }
            return (0...(own.count - part.count)).contains { own[$0...].starts(with: part) }
        case .like: return isLike(Array(text), Array(other))
        }
    }

    /// Compares grapheme clusters. If the pattern after its last `*` does not match, that `*` takes one character more.
    private static func isLike(_ text: [Character], _ pattern: [Character]) -> Bool {
        var (place, next) = (0, 0)
        var star: (next: Int, place: Int)?
        while place < text.count {
            if next < pattern.count, pattern[next] == "*" {
                star = (next + 1, place)
                next += 1
            } else if next < pattern.count, pattern[next] == "?" || pattern[next].utf8.elementsEqual(text[place].utf8) {
                place += 1
                next += 1
            } else if let known = star {
                star = (known.next, known.place + 1)
                (next, place) = (known.next, known.place + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == "*" }
    }

    // MARK: Numbers

    func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) -> ProbeAggregates {
        let found = sorted.filter { holds(condition, $0) }
        let values = found.map { value(column, $0) }.filter { $0 != .null }
        let extremes = values.filter { if case .real(let real) = $0 { !real.isNaN } else { true } }
        var (integers, reals, mean) = (Int64(0), 0.0, 0.0)
        for value in values {
            if case .integer(let integer) = value {
                integers &+= integer
                mean += Double(integer)
            } else if case .real(let real) = value {
                reals += real
            }
        }
        let isReal = column == .real || column == .indexedReal
        let average: Value = values.isEmpty ? .null : .real((isReal ? reals : mean) / Double(values.count))
        return ProbeAggregates(
            count: found.count, least: extremes.min(by: Self.isLess) ?? .null,
            most: extremes.max(by: Self.isLess) ?? .null, sum: isReal ? .real(reals) : .integer(integers),
            average: average)
    }
}

extension ProbeCondition {
    /// The same condition for the indexed columns, or for their twins without an index.
    func on(indexed: Bool) -> ProbeCondition {
        func twin(_ column: ProbeColumn) -> ProbeColumn {
            switch column {
            case .number, .indexedNumber: indexed ? .indexedNumber : .number
            case .real, .indexedReal: indexed ? .indexedReal : .real
            case .text, .indexedText: indexed ? .indexedText : .text
            case .id: column
            }
        }
        switch self {
        case .compare(let column, let comparison, let value): return .compare(twin(column), comparison, value)
        case .oneOf(let column, let values): return .oneOf(twin(column), values)
        case .text(let column, let test, let text, let folded):
            return .text(twin(column), test, text, isFolded: folded)
        case .friend(let column, let comparison, let value): return .friend(twin(column), comparison, value)
        case .friends(let quantifier, let column, let comparison, let value):
            return .friends(quantifier, twin(column), comparison, value)
        case .and(let parts): return .and(parts.map { $0.on(indexed: indexed) })
        case .or(let parts): return .or(parts.map { $0.on(indexed: indexed) })
        case .not(let part): return .not(part.on(indexed: indexed))
        }
    }
}
