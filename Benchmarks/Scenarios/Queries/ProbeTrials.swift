import Harness
import Measuring
import RunRecords

/// Runs every query of a case, compares the answers with the model's, and measures the queries by kind.
struct ProbeTrials {
    let context: CaseContext
    let session: any ProbeSession
    private(set) var model: ProbeModel
    private var number = 0
    private var declined: [String: Int] = [:]
    /// Number of queries, and of those whose right answer is not empty.
    private var (asked, answered) = (0, 0)

    static let parameters = [
        ScenarioParameter("rows", .size, default: 2_000, range: 10...10_000_000, summary: "rows of the table"),
        ScenarioParameter(
            "queries", .size, default: 400, range: 3...10_000_000,
            summary: "queries, each compared with a naive result"),
    ]

    /// Stores the rows in an empty database of the case.
    init(_ context: CaseContext, _ rows: [ProbeRow], in name: String = "probes") throws {
        try self.init(context, in: name) { _ in rows }
    }

    /// - Parameter rows: makes the rows for the session that will store them.
    init(
        _ context: CaseContext, in name: String = "probes", rows: (any ProbeSession) throws -> [ProbeRow]
    ) throws {
        self.context = context
        session = try context.open(try context.emptyLocation(name), as: (any ProbeSession).self)
        let made = try rows(session)
        model = ProbeModel(made)
        try session.store(made, deleting: [])
    }

    mutating func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws {
        try session.store(rows, deleting: deleted)
        model.store(rows, deleting: deleted)
    }

    private func isChosen(_ address: String) -> Bool {
        context.onlyTrial.map { $0.text == address } ?? true
    }

    mutating func ask(_ query: ProbeQuery) throws {
        number += 1
        let address = "query:\(number)"
        guard isChosen(address) else { return }
        if let reason = session.reasonToDecline(query.condition) {
            declined[reason, default: 0] += 1
            return
        }
        var (got, expected) = (try session.select(query), model.select(query))
        if query.sort.isEmpty && query.distinct.isEmpty && query.limit == nil {
            got.sort()
            expected.sort()
        }
        note(isEmpty: expected.isEmpty)
        add(address, expected, got: got, question: "\(query)")
    }

    private mutating func note(isEmpty: Bool) {
        asked += 1
        if !isEmpty { answered += 1 }
    }

    mutating func ask(_ column: ProbeColumn, where condition: ProbeCondition) throws {
        number += 1
        let address = "query:\(number)"
        guard isChosen(address) else { return }
        if let reason = session.reasonToDecline(condition) {
            declined[reason, default: 0] += 1
            return
        }
        let got = try session.aggregates(column, where: condition)
        let expected = model.aggregates(column, where: condition)
        note(isEmpty: expected.count == 0)
        let isSame =
            got.count == expected.count && Self.isSame(got.least, expected.least)
            && Self.isSame(got.most, expected.most)
            && Self.isSame(got.sum, expected.sum) && Self.isClose(got.average, expected.average)
        context.report.add(
            Trial(
                address: FaultAddress(text: address), outcome: isSame ? .correct : .silentlyWrong,
                detail: isSame ? "" : Self.short("\(column) where \(condition): expected \(expected), got \(got)")))
    }

    /// Compares every stored row.
    mutating func compareRows(_ what: String) throws {
        number += 1
        let address = "query:\(number)"
        guard isChosen(address) else { return }
        let (got, expected) = (try session.readProbes(), model.sorted)
        let place = zip(got, expected).enumerated().first { !Self.isSame($0.element.0, $0.element.1) }
        let isSame = got.count == expected.count && place == nil
        context.report.add(
            Trial(
                address: FaultAddress(text: address), outcome: isSame ? .correct : .silentlyWrong,
                detail: isSame
                    ? ""
                    : Self.short(
                        "\(what): \(expected.count) rows, got \(got.count); first \(String(describing: place))")))
    }

    private func add(_ address: String, _ expected: [Int64], got: [Int64], question: String) {
        let isSame = expected == got
        let differing = zip(expected, got).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let place = differing ?? min(expected.count, got.count)
        let detail = "expected \(expected.count) rows, got \(got.count), first difference at \(place)"
        context.report.add(
            Trial(
                address: FaultAddress(text: address), outcome: isSame ? .correct : .silentlyWrong,
                detail: isSame ? "" : Self.short("\(detail): \(question)")))
    }

    private static func short(_ text: String) -> String { String(text.prefix(600)) }

    /// Both zeros are equal extremes, and so are all NaNs. Texts are compared by their bytes.
    private static func isSame(_ a: Value, _ b: Value) -> Bool {
        if case .real(let a) = a, case .real(let b) = b { return a == b || a.isNaN && b.isNaN }
        return FullReadComparison.isSame(a, b)
    }

    /// Compares rows value by value, as they are stored: Swift's `String` treats two spellings of a letter as equal.
    private static func isSame(_ a: ProbeRow, _ b: ProbeRow) -> Bool {
        func isSame(_ a: String?, _ b: String?) -> Bool {
            guard let a, let b else { return a == nil && b == nil }
            return a.utf8.elementsEqual(b.utf8)
        }
        func isSame(_ a: Double?, _ b: Double?) -> Bool {
            guard let a, let b else { return a == nil && b == nil }
            // An engine may store a real without a fraction as an integer, without the sign of a zero.
            return a == b || a.isNaN && b.isNaN
        }
        return a.id == b.id && a.number == b.number && isSame(a.real, b.real) && isSame(a.text, b.text)
            && a.friend == b.friend && a.friends == b.friends
    }

    /// Reals may differ a little, since engines add in different orders.
    private static func isClose(_ a: Value, _ b: Value) -> Bool {
        guard case .real(let a) = a, case .real(let b) = b else { return a == b }
        return a == b || a.isNaN && b.isNaN || abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    }

    /// Runs the queries again without comparing, kind by kind, and closes.
    func measure(_ queries: [ProbeQuery]) throws {
        let report = context.report
        report.add(.trials, Double(number), statistic: "count")
        for (reason, count) in declined.sorted(by: { $0.key < $1.key }) {
            report.note("\(count) queries were not tried: \(reason)")
        }
        if context.onlyTrial == nil {
            context.require(self.asked, "no question was asked: the engine can ask none of them")
            if self.asked > 0 { context.require(answered, "no question had an answer: every row was to be left out") }
        }
        let asked = queries.filter { session.reasonToDecline($0.condition) == nil }
        if context.onlyTrial == nil {
            for (kind, own) in Dictionary(grouping: asked, by: \.kind).sorted(by: { $0.key < $1.key }) {
                var (count, found) = (0, 0)
                let start = MonotonicClock.now()
                let limit = start + 50_000_000
                repeat {
                    found += try session.select(own[count % own.count]).count
                    count += 1
                } while MonotonicClock.now() < limit && !context.isOverBudget
                let elapsed = MonotonicClock.now() - start
                report.add(.operationNanoseconds, Double(elapsed) / Double(count), count: count, label: kind)
                report.add(.rowsFound, Double(found) / Double(count), statistic: "mean", count: count, label: kind)
            }
        }
        try session.close()
    }
}

extension Metric {
    /// Rows that a query of that kind finds.
    static let rowsFound = Metric("rows_found", unit: "count", .neutral, .measured)
}
