import Measuring
import RunRecords

// Rows and queries of the family `queries`. They are separate from data sets because every value may be null.

/// A row whose values may be null. Each of `number`, `real` and `text` is stored in two columns, one with an index and
/// one without.
package struct ProbeRow: Hashable, Sendable {
    package var id: Int64
    package var number: Int64?
    package var real: Double?
    package var text: String?
    /// The `id` of another row.
    package var friend: Int64?
    package var friends: [Int64]

    package init(
        id: Int64, number: Int64? = nil, real: Double? = nil, text: String? = nil, friend: Int64? = nil,
        friends: [Int64] = []
    ) {
        self.id = id
        self.number = number
        self.real = real
        self.text = text
        self.friend = friend
        self.friends = friends
    }
}

package enum ProbeColumn: String, Hashable, Sendable, CaseIterable {
    case id, number, indexedNumber, real, indexedReal, text, indexedText
}

package enum ProbeComparison: String, Hashable, Sendable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
}

package enum ProbeTextTest: String, Hashable, Sendable, CaseIterable {
    case equal, contains, begins, ends
    /// `?` is one character, `*` any number of them.
    case like
}

package enum ProbeQuantifier: String, Hashable, Sendable, CaseIterable {
    case any, none, all
}

/// A condition on a row.
///
/// Null equals null, differs from every other value, and has no order. A missing friend counts as one whose values
/// are all null. Text is compared by its bytes, or after case folding.
package indirect enum ProbeCondition: Hashable, Sendable {
    case compare(ProbeColumn, ProbeComparison, Value)
    case oneOf(ProbeColumn, [Value])
    case text(ProbeColumn, ProbeTextTest, String, isFolded: Bool)
    case friend(ProbeColumn, ProbeComparison, Value)
    case friends(ProbeQuantifier, ProbeColumn, ProbeComparison, Value)
    case and([ProbeCondition])
    case or([ProbeCondition])
    case not(ProbeCondition)
}

/// A query for rows. It applies the condition, then the sort, then keeps one row for each value of `distinct`, then
/// applies the limit.
package struct ProbeQuery: Hashable, Sendable {
    package struct Sort: Hashable, Sendable {
        package var column: ProbeColumn
        package var isAscending: Bool

        package init(_ column: ProbeColumn, ascending isAscending: Bool = true) {
            self.column = column
            self.isAscending = isAscending
        }
    }

    /// The kind of query, by which figures are grouped.
    package var kind: String
    package var condition: ProbeCondition
    /// Null comes before numbers and text; rows with equal values stay in the order of their ids.
    package var sort: [Sort]
    package var distinct: [ProbeColumn]
    package var limit: Int?

    package init(
        _ kind: String, _ condition: ProbeCondition, sort: [Sort] = [], distinct: [ProbeColumn] = [],
        limit: Int? = nil
    ) {
        self.kind = kind
        self.condition = condition
        self.sort = sort
        self.distinct = distinct
        self.limit = limit
    }
}

/// Aggregates of a column over the matching rows. Nulls are skipped; minimum and maximum also skip a value that is not
/// a number (NaN).
package struct ProbeAggregates: Hashable, Sendable {
    package var count: Int
    package var least: Value
    package var most: Value
    /// Integers wrap around.
    package var sum: Value
    package var average: Value

    package init(count: Int, least: Value, most: Value, sum: Value, average: Value) {
        self.count = count
        self.least = least
        self.most = most
        self.sum = sum
        self.average = average
    }
}

/// Capability `probes`. The database is empty when the session is opened.
package protocol ProbeSession: Session {
    /// In one transaction, replaces the rows whose ids exist and adds the others; then deletes the rows of `deleted`,
    /// and the links to them.
    func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError)

    /// The ids of the rows, in the requested order; in any order without a sort.
    func select(_ query: ProbeQuery) throws(EngineError) -> [Int64]

    /// Aggregates of `number`, `real`, or one of their indexed columns.
    func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates

    /// Every row, by id.
    func readProbes() throws(EngineError) -> [ProbeRow]

    /// Why the engine cannot run a query with this condition; nil if it can.
    func reasonToDecline(_ condition: ProbeCondition) -> String?

    /// Whether NaN comes back as it was stored; an engine may store null in its place.
    var storesNaN: Bool { get }

    /// For each value the id of the first row that the engine finds with this value in the column, which is
    /// `indexedNumber` or `indexedText`. -1 if there is none.
    func first(_ column: ProbeColumn, equal values: [Value]) throws(EngineError) -> [Int64]

    /// The ids of the first `count` rows, of all rows in this order, as a program reads them that shows only so many.
    /// Rows of equal value may be in any order.
    func firstRows(_ sort: ProbeQuery.Sort, count: Int) throws(EngineError) -> [Int64]

    /// The number of rows that have this row as their `friend`.
    func linkCount(to id: Int64) throws(EngineError) -> Int

    /// The ids of the first `count` rows that have this row as their `friend`, in the engine's order.
    func linkingRows(to id: Int64, count: Int) throws(EngineError) -> [Int64]

    /// Deletes the matching rows, or all rows without a condition, in one transaction, with the links to them. The
    /// session calls `beforeCommit` between the last deletion and the commit.
    func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws(EngineError)
}

extension ProbeSession {
    package func first(_ column: ProbeColumn, equal values: [Value]) throws(EngineError) -> [Int64] {
        throw EngineError(.unsupported, "no look-up of one row")
    }

    package func firstRows(_ sort: ProbeQuery.Sort, count: Int) throws(EngineError) -> [Int64] {
        throw EngineError(.unsupported, "no first rows of an order")
    }

    package func linkCount(to id: Int64) throws(EngineError) -> Int {
        throw EngineError(.unsupported, "no links backwards")
    }

    package func linkingRows(to id: Int64, count: Int) throws(EngineError) -> [Int64] {
        throw EngineError(.unsupported, "no links backwards")
    }

    package func delete(where condition: ProbeCondition?, beforeCommit: () -> Void) throws(EngineError) {
        throw EngineError(.unsupported, "no deletion by a condition")
    }

    package func reasonToDecline(_ condition: ProbeCondition) -> String? { nil }

    package var storesNaN: Bool { true }
}
