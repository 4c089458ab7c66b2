import Harness
import RunRecords
import Testing

@testable import Scenarios

/// The smallest false claims of a salvage, each distinguished from the truth.
@Suite struct SalvageOracleTests {
    /// Six people, each with a friend and two dogs of three.
    private static let tables: TableSet = {
        var dogs = LinkListColumn()
        for row in 0..<6 { dogs.append([Int32(row % 3), Int32((row + 1) % 3)]) }
        return TableSet(
            dataset: "test",
            tables: [
                Table(
                    name: "Person", key: "id",
                    columns: [
                        Column("id", .integer((0..<6).map { Int64($0) })), Column("age", .integer([9, 8, 7, 6, 5, 4])),
                        Column("dogs", .links(target: "Dog", dogs)),
                        Column("dog", .link(target: "Dog", [0, 1, 2, 0, 1, 2])),
                    ]),
                Table(name: "Dog", key: "id", columns: [Column("id", .integer([0, 1, 2]))]),
            ], digest: 0)
    }()

    private static func sound() -> [String: [Int: [Value]]] {
        var rows: [String: [Int: [Value]]] = [:]
        for table in tables.tables {
            rows[table.name] = Dictionary(
                uniqueKeysWithValues: (0..<table.rowCount).map { ($0, table.values(row: $0)) })
        }
        return rows
    }

    private static func compare(
        _ rows: [String: [Int: [Value]]], _ claim: SalvageClaim?, firstLogged: Int = .max
    ) -> SalvageFinding {
        let sink = SalvagedRows()
        for (name, table) in rows {
            for (row, values) in table { _ = sink.receive(table: name, row: row, values: values) }
        }
        return SalvageOracle(truth: ExactOracle(tables), firstLogged: firstLogged).compare(sink, claim: claim)
    }

    /// A report that exactly these rows of people are lost.
    private static func claim(_ rows: Int, _ keys: ClosedRange<Int64>? = nil, isExact: Bool = true) -> SalvageClaim {
        var claim = SalvageClaim()
        var person = SalvageClaim.Loss(table: "Person")
        person.rows = rows
        person.isExact = isExact
        if let keys { person.keys = [SalvageClaim.Keys(low: keys.lowerBound, high: keys.upperBound, rows: rows)] }
        claim.losses = [person, SalvageClaim.Loss(table: "Dog")]
        claim.isWhole = rows == 0 && isExact
        return claim
    }

    private static func outcome(_ finding: SalvageFinding) -> Outcome { finding.outcome(wasRight: false).outcome }

    @Test("all rows without a reported loss: repaired, or correct if nothing was wrong")
    func whole() {
        let finding = Self.compare(Self.sound(), Self.claim(0))
        #expect(finding.right == 9 && finding.lies.isEmpty)
        #expect(Self.outcome(finding) == .repaired)
        #expect(finding.outcome(wasRight: true).outcome == .correct)
        #expect(Self.outcome(Self.compare(Self.sound(), nil)) == .repaired)
    }

    @Test("a missing row is reported if counted and within lost key ranges, otherwise not")
    func missing() {
        var rows = Self.sound()
        rows["Person"]?[3] = nil
        let told = Self.compare(rows, Self.claim(1, 2...4))
        #expect(told.lies.isEmpty && told.missing == 1 && told.right == 8)
        #expect(Self.outcome(told) == .fellBack)
        for claim in [Self.claim(0), Self.claim(1, 4...5), Self.claim(0, isExact: false), nil] {
            #expect(Self.outcome(Self.compare(rows, claim)) == .lostCommit, "\(String(describing: claim))")
        }
        #expect(Self.outcome(Self.compare(rows, Self.claim(0, 2...4, isExact: false))) == .fellBack)
    }

    @Test("an unreported table is missed")
    func forgottenTable() {
        var rows = Self.sound()
        rows["Person"] = [:]
        var claim = Self.claim(1, 0...5)
        claim.losses.removeFirst()
        #expect(Self.outcome(Self.compare(rows, claim)) == .lostCommit)
        #expect(Self.outcome(Self.compare(rows, Self.claim(6, 0...5))) == .fellBack)
        #expect(Self.outcome(Self.compare(rows, SalvageClaim())) == .lostCommit)
    }

    @Test("an exaggerated loss, in total or between two keys, is distinguished from the truth")
    func overclaimed() {
        var rows = Self.sound()
        rows["Person"]?[3] = nil
        for claim in [Self.claim(2, 2...4), Self.claim(2, 2...4, isExact: false)] {
            let finding = Self.compare(rows, claim)
            guard case .overclaimed? = finding.lies.first else {
                Issue.record("\(finding)")
                continue
            }
            #expect(Self.outcome(finding) == .silentlyWrong)
        }
        var ranges = Self.claim(1, 2...4)
        ranges.losses[0].keys.append(SalvageClaim.Keys(low: 5, high: 5, rows: 1))
        #expect(Self.outcome(Self.compare(rows, ranges)) == .silentlyWrong)
    }

    @Test("another row's value, an invented row and a duplicate row are wrong, unless reported as uncertain")
    func wrongValues() {
        var mixed = Self.sound()
        mixed["Person"]?[2]?[1] = .integer(8)
        var invented = Self.sound()
        let one = invented["Person"]?[2]
        invented["Person"]?[9] = one
        for rows in [mixed, invented] {
            let finding = Self.compare(rows, Self.claim(0))
            #expect(finding.wrong == 1)
            #expect(Self.outcome(finding) == .silentlyWrong)
            var uncertain = Self.claim(0)
            uncertain.losses[0].uncertainRows = 1
            uncertain.isWhole = false
            #expect(Self.outcome(Self.compare(rows, uncertain)) == .fellBack)
            #expect(Self.outcome(Self.compare(rows, nil)) == .silentlyWrong)
        }
        let twice = SalvagedRows()
        for _ in 0..<2 { _ = twice.receive(table: "Dog", row: 0, values: [.integer(0)]) }
        let finding = SalvageOracle(truth: ExactOracle(Self.tables)).compare(twice, claim: nil)
        #expect(Self.outcome(finding) == .silentlyWrong)
    }

    @Test("a column that reads as its default is lost if reported for as many rows")
    func columns() {
        var rows = Self.sound()
        rows["Person"]?[2]?[1] = .integer(0)
        func said(_ count: Int, _ keys: ClosedRange<Int64>) -> SalvageClaim {
            var claim = Self.claim(0)
            let range = SalvageClaim.Keys(low: keys.lowerBound, high: keys.upperBound, rows: count)
            claim.losses[0].columns = [SalvageClaim.LostColumn(name: "age", rows: count, keys: [range])]
            claim.isWhole = false
            return claim
        }
        let finding = Self.compare(rows, said(1, 0...3))
        #expect(finding.partial == 1 && finding.lies.isEmpty && Self.outcome(finding) == .fellBack)
        #expect(Self.outcome(Self.compare(rows, said(2, 0...3))) == .silentlyWrong)
        #expect(Self.outcome(Self.compare(rows, said(1, 3...4))) == .silentlyWrong)
        rows["Person"]?[2]?[1] = .integer(1)
        #expect(Self.outcome(Self.compare(rows, said(1, 0...3))) == .silentlyWrong)
    }

    @Test("links to missing rows are removed, and counted")
    func links() {
        var rows = Self.sound()
        rows["Dog"]?[2] = nil
        for (row, var values) in rows["Person"] ?? [:] {
            if case .links(let dogs) = values[2] { values[2] = .links(dogs.filter { $0 != 2 }) }
            if values[3] == .link(2) { values[3] = .null }
            rows["Person"]?[row] = values
        }
        var claim = Self.claim(0)
        claim.losses[1].rows = 1
        claim.losses[1].keys = [SalvageClaim.Keys(low: 2, high: 2, rows: 1)]
        claim.losses[0].removedLinks = 6
        claim.isWhole = false
        #expect(Self.compare(rows, claim).lies.isEmpty)
        claim.losses[0].removedLinks = 5
        #expect(Self.outcome(Self.compare(rows, claim)) == .lostCommit)
        claim.losses[0].removedLinks = 7
        #expect(Self.outcome(Self.compare(rows, claim)) == .silentlyWrong)
    }

    @Test("a log without its end may silently lose one transaction, and more only if reported")
    func logged() {
        var rows = Self.sound()
        rows["Person"]?[5] = nil
        #expect(Self.outcome(Self.compare(rows, Self.claim(0), firstLogged: 4)) == .fellBack)
        rows["Person"]?[4] = nil
        #expect(Self.outcome(Self.compare(rows, Self.claim(0), firstLogged: 4)) == .lostCommit)
        var claim = Self.claim(0)
        claim.losesTransactions = true
        claim.isWhole = false
        #expect(Self.outcome(Self.compare(rows, claim, firstLogged: 4)) == .fellBack)
        rows["Person"]?[3] = nil
        #expect(Self.outcome(Self.compare(rows, claim, firstLogged: 4)) == .lostCommit)
    }
}
