import Harness
import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An open and the first read of a row, each time in a process that never opened the database before.
struct OpenAndRead: Scenario {
    let slug = "open"
    let family = Family.workload
    let question = "How long does it take from a closed file to the first row?"
    let requires: Set<Capability> = [.tables, .persistent]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("opens", default: "20", range: 1...10_000, summary: "processes, one after the other"),
        ScenarioParameter(
            "cache", default: "warm", allowed: ["warm", "cold"], summary: "whether the file is in the page cache"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let location = try context.fixtureLocation()
        let isCold = try context.text("cache") == "cold"
        let tables = try context.tables()
        guard case .integer(let keys)? = tables.main.keyColumn?.values, !keys.isEmpty,
            let column = tables.main.columns.first(where: { column in
                if case .integer = column.values { column.name != tables.main.key } else { false }
            })?.name
        else { throw HarnessError("\(tables.main.name) has no integer key and no integer property") }
        let oracle = ExactOracle(tables)
        // A program is compiled for its tables: it does not ask the database for them.
        context.engine.learn(tables)
        var random = context.random("keys")
        var histogram = Histogram()
        // The first one is not counted: it brings code and file into memory.
        for number in 0...(try context.integer("opens")) {
            let reads = PointReads(
                table: tables.main.name, keys: [keys[random.below(keys.count)]], columns: [column])
            if isCold { try Self.dropCache(context.engine.files(at: location)) }
            let expected = oracle.digest(reads).sum
            let nanoseconds: UInt64
            if context.executable != nil {
                let step = [tables.main.name, String(reads.keys[0]), column, String(expected)]
                nanoseconds = try Self.openInProcess(context, location, step, "open \(number)")
            } else {
                let (elapsed, sum) = try Self.openInChild(context, location, reads)
                report.check("open \(number)", expected: expected, got: sum)
                nanoseconds = elapsed
            }
            if number > 0 { histogram.record(nanoseconds) }
            if number > 2 && context.isOverBudget {
                report.cut()
                break
            }
        }
        report.add(histogram, name: "open")
        report.add(
            .openMicroseconds, Double(histogram.quantile(0.5)) / 1e3, statistic: "median",
            count: Int(histogram.count))
        report.add(.fileBytes, Double(try context.fileBytes(at: location)))
    }

    /// Opens in a small process that was started for it, as a program does; its trial becomes one of the case.
    private static func openInProcess(
        _ context: CaseContext, _ location: DatabaseLocation, _ step: [String], _ name: String
    ) throws -> UInt64 {
        let found = try context.runStep(step, at: location)
        let trial = found.trials.first
        let outcome = found.outcomes.first { $0.outcome != .correct }?.outcome ?? .correct
        context.report.add(
            Trial(address: FaultAddress(text: name), outcome: outcome, detail: trial?.detail ?? ""))
        guard let sample = found.samples.first(where: { $0.metric == .openMicroseconds }) else { return 0 }
        return UInt64(sample.value * 1e3)
    }

    /// The step: the clock runs from the call that opens to the value.
    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard arguments.count == 4, let key = Int64(arguments[1]), let expected = UInt64(arguments[3]),
            let source = context.source
        else { throw HarnessError("an open needs a table, a key, a column and what is there") }
        // A program is compiled for its tables: it does not ask the database for them.
        context.engine.learn(try source.tables(size: 1, seed: context.seed))
        let reads = PointReads(table: arguments[0], keys: [key], columns: [arguments[2]])
        let location = try context.fixtureLocation()
        let start = MonotonicClock.now()
        let session = try context.open(location, as: (any TableSession).self)
        let digest = try session.readPoints(reads, latency: nil)
        let elapsed = MonotonicClock.now() - start
        try session.close()
        context.report.check("open", expected: expected, got: digest.sum)
        context.report.add(.openMicroseconds, Double(elapsed) / 1e3)
    }

    /// Where no worker runs the case: time and what was read, measured inside a forked child. No engine was opened in
    /// this process before.
    private static func openInChild(
        _ context: CaseContext, _ location: DatabaseLocation, _ reads: PointReads
    ) throws -> (nanoseconds: UInt64, sum: UInt64) {
        let child = try ForkedChild.start { output in
            do {
                let start = MonotonicClock.now()
                let session = try context.open(location, as: (any TableSession).self)
                let digest = try session.readPoints(reads, latency: nil)
                var answer: [UInt64] = [MonotonicClock.now() - start, digest.sum]
                let written = write(output, &answer, 16)
                try session.close()
                return written == 16 ? 0 : 2
            } catch {
                let text = "\(error)\n"
                text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
                return 1
            }
        }
        var answer: [UInt64] = [0, 0]
        #if canImport(Glibc)
            let count = Glibc.read(child.output, &answer, 16)
        #else
            let count = Darwin.read(child.output, &answer, 16)
        #endif
        let end = child.wait()
        guard count == 16, end == .exited(0) else { throw HarnessError("a process that opens ended so: \(end)") }
        return (answer[0], answer[1])
    }

    private static func dropCache(_ files: [DatabaseFile]) throws {
        #if canImport(Glibc)
            for file in files {
                try FileTree.sync(file.path)
                let descriptor = Glibc.open(file.path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw HarnessError("cannot open \(file.path)") }
                posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
                close(descriptor)
            }
        #else
            throw HarnessError("a cold cache needs posix_fadvise")
        #endif
    }
}
