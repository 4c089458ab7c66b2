import Datasets
import Harness
import RunRecords

/// The expected content of a database of people that is too large for a full comparison after every figure: the number
/// of rows, every row that the case touched, and ten thousand of the others.
///
/// Unchanged rows are read one by one. Changed rows are read all at once, and at most ten thousand of them one by one:
/// of the others only the total is compared. The digest of a row is the sum of its values (``ReadDigest``); of a text
/// it has the length, the first and the last byte. A full comparison compares every byte.
///
/// A scenario compares everything unless its parameter `compare` says `sample`.
struct SampledContent {
    static let parameter = ScenarioParameter(
        "compare", default: "all", allowed: ["all", "sample"],
        summary: "what is compared at the end: every value, or digests of the rows touched and of 10 000 others")

    /// The number of unchanged rows that are read, and the most changed rows that are read one by one.
    private static let sampledRows = 10_000
    private static let columns = ["name", "age", "score"]

    let rows: RowOracle
    /// Ids of the rows that were added after those of the data set.
    var inserted: [Range<Int>] = []
    /// By key, the last value of the row's age, from ``RandomAges/firstAge`` upwards: a row's age only increases.
    var ages: [Int64: Int64] = [:]

    /// Opens the database again and compares; each part is a trial of the case.
    func judge(_ context: CaseContext, at location: DatabaseLocation) throws {
        do {
            let session = try context.open(location, as: (any TableSession).self)
            try judge(session, context)
            try session.close()
        } catch let error as EngineError {
            let outcome = error.outcomeOfRead
            context.report.add(
                Trial(address: FaultAddress(text: "content"), outcome: outcome, detail: error.description))
        }
    }

    private func judge(_ session: any TableSession, _ context: CaseContext) throws {
        let table = rows.main.name
        let count = rows.rowCount + inserted.reduce(0) { $0 + $1.count }
        context.report.check("row count", expected: count, got: try session.rowCount(table: table))
        for range in inserted where !range.isEmpty {
            let added = ExactOracle(TableSet(dataset: table, tables: [PeopleDataset.persons(range)], digest: 0))
            try check(
                "rows \(range.lowerBound) to \(range.upperBound - 1)", range.map { Int64($0) }, session: session,
                context: context
            ) { added.digest($0) }
        }
        if !ages.isEmpty { try judgeChanged(session, context) }
        var random = context.random("sampled rows")
        // The last row is among them: rows written after it are its neighbours.
        var keys = [rows.key(ofRow: rows.rowCount - 1)]
        for _ in 0..<min(Self.sampledRows, rows.rowCount) {
            let key = rows.key(ofRow: random.below(rows.rowCount))
            if ages[key] == nil { keys.append(key) }
        }
        try check("sampled rows", keys.filter { ages[$0] == nil }, session: session, context: context) {
            rows.digest($0)
        }
    }

    /// Reads row by row, as one trial, which names the first row that differs.
    private func check(
        _ address: String, _ keys: [Int64], session: any TableSession, context: CaseContext,
        expected: (PointReads) -> ReadDigest
    ) throws {
        for key in keys {
            let read = reads([key])
            let (wanted, got) = (expected(read), try session.readPoints(read, latency: nil))
            if got == wanted { continue }
            return context.report.check("\(address), row \(key)", expected: wanted, got: got)
        }
        context.report.add(Trial(address: FaultAddress(text: address), outcome: .correct))
    }

    private func reads(_ keys: [Int64]) -> PointReads {
        PointReads(table: rows.main.name, keys: keys, columns: Self.columns)
    }

    /// Reads all changed rows in one batch, then one by one: all of them if the batch differs, else some.
    private func judgeChanged(_ session: any TableSession, _ context: CaseContext) throws {
        let address = FaultAddress(text: "changed rows")
        let keys = ages.keys.sorted()
        let isSame = try session.readPoints(reads(keys), latency: nil) == expected(reads(keys))
        let step = isSame ? max(1, (keys.count + Self.sampledRows - 1) / Self.sampledRows) : 1
        for place in stride(from: 0, to: keys.count, by: step) {
            let key = keys[place]
            let got = try session.readPoints(reads([key]), latency: nil)
            guard let (outcome, what) = difference(key, got) else { continue }
            return context.report.add(
                Trial(
                    address: address, outcome: outcome,
                    detail: "row \(key) was set to age \(ages[key] ?? 0), and \(what)"))
        }
        context.report.add(
            Trial(
                address: address, outcome: isSame ? .correct : .silentlyWrong,
                detail: isSame ? "" : "a batch of rows differs from its rows"))
    }

    /// What is wrong with a row: an earlier age is a lost commit. nil without a difference.
    private func difference(_ key: Int64, _ got: ReadDigest) -> (Outcome, String)? {
        let wanted = expected(reads([key]))
        if got == wanted { return nil }
        let last = ages[key] ?? 0
        let age = last &+ Int64(bitPattern: got.sum &- wanted.sum)
        if got == rows.digest(reads([key])) { return (.lostCommit, "is as it was loaded") }
        if got.count == wanted.count, age >= RandomAges.firstAge, age < last {
            return (.lostCommit, "has the older age \(age)")
        }
        return (.silentlyWrong, "holds something else")
    }

    private func expected(_ reads: PointReads) -> ReadDigest {
        var digest = rows.digest(reads)
        for key in reads.keys {
            guard let age = ages[key] else { continue }
            let before = rows.digest(PointReads(table: reads.table, keys: [key], columns: ["age"])).sum
            digest.sum = digest.sum &- before &+ UInt64(bitPattern: age)
        }
        return digest
    }
}
