import Commands
import Datasets
import Files
import Harness
import Measuring
import Platform
import Seeds

struct EqualWorkCommand: Command {
    let name = "equal-work"
    let summary = "prints the work of each engine for a figure, as Markdown: docs/equal-work.md"
    let question = "do two engines do the same work for a figure?"
    let positional: [String] = []
    let examples = [
        CommandExample("equal-work --declared", "the declarations of the adapters, without a run")
    ]
    let exitStatus = "0 printed"
    let options = [
        OptionSpecification("--declared", "only the declarations of the adapters, without a run"),
        OptionSpecification("--directory", value: "DIR", "the directory for databases, on a disk (.)"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let engines = BuildRegistries.make(hasEveryPeer: true).engines.engines.filter {
            $0.workNote(.readPoints) != nil
        }
        if arguments.has("--declared") {
            try Output.write(EqualWork.declared(engines))
            return 0
        }
        if IOWitness.shared == nil { try startWitnessed() }
        try Output.write(EqualWork.declared(engines))
        let scratch = try ScratchDirectory.make(in: arguments.value("--directory") ?? ".")
        let observations: [ObservedWork]
        do {
            // DuckDB may be declared although its library is missing on this machine; it is then not observed.
            let there = engines.filter { $0.name != PeerLibraryOption.duckDB || PeerLibraryOption.duckDBPath != nil }
            observations = try there.flatMap { try WorkObserver($0, below: scratch.files).observe() }
        } catch {
            try scratch.remove()
            throw error
        }
        try scratch.remove()
        try printCalls(observations)
        try printStatements(observations)
        return 0
    }

    /// Restarts this program with the call-counting library preloaded. Returns only if that library does not exist
    /// beside the program.
    private func startWitnessed() throws {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        guard getenv("ASSAY_EQUAL_WORK") == nil, Preload.library(besides: executable) != nil else {
            return Output.error("no libAssayPreload.so beside \(executable), which would count the calls")
        }
        let variables = WorkerEnvironment.variables(executable: executable) + ["ASSAY_EQUAL_WORK=1"]
        CommandVector.with([executable] + CommandLine.arguments.dropFirst()) { arguments in
            CommandVector.with(variables) { variables in
                _ = execve(executable, arguments, variables)
            }
        }
        throw HarnessError("cannot start \(executable) under its library: \(String(cString: strerror(errno)))")
    }

    private func printCalls(_ observations: [ObservedWork]) throws {
        try Output.line()
        try Output.line("## Calls to files")
        try Output.line()
        try Output.line(
            "For 100 rows under durability full, counted below the engines by the preloaded library. Reads of")
        try Output.line("mapped files are no calls.")
        try Output.line()
        try Output.line("| engine | work | writes | bytes written | syncs | reads | bytes read |")
        try Output.line("|---|---|---|---|---|---|---|")
        for work in observations {
            guard let calls = work.calls else { continue }
            let cells = [calls.writeCalls, calls.writtenBytes, calls.allSyncs, calls.readCalls, calls.readBytes]
            try Output.line(
                "| `\(work.engine)` | \(work.work.rawValue) | \(cells.map { "\($0)" }.joined(separator: " | ")) |")
        }
    }

    private func printStatements(_ observations: [ObservedWork]) throws {
        try Output.line()
        try Output.line("## Statements that ran")
        try Output.line()
        let statements = observations.map {
            EqualWork.Statements(engine: $0.engine, work: $0.work, statements: $0.statements)
        }
        for line in EqualWork.statementLines(statements) { try Output.line(line) }
    }
}

/// The calls that an engine made for one batch.
private struct ObservedWork {
    var engine: String
    var work: Work
    /// nil if the calls were not counted.
    var calls: IOCounts?
    var statements: [(statement: String, count: Int)]
}

/// Lets an engine do each kind of work on a hundred rows, and records its calls.
private struct WorkObserver {
    private typealias Role = any TableSession & QuerySession & UpdateSession & DeletionSession

    private let engine: any Engine
    private let location: DatabaseLocation

    init(_ engine: any Engine, below directory: String) throws {
        self.engine = engine
        location = DatabaseLocation(directory: "\(directory)/\(engine.name)")
        try FileTree.createDirectory(location.directory)
        _ = IOWitness.shared?.setRoot([FileTree.absolute(location.directory) ?? location.directory])
        _ = IOWitness.shared?.setLogNames(engine.logPatterns)
        _ = IOWitness.shared?.setIgnoredNames(engine.coordinationPatterns)
    }

    func observe() throws -> [ObservedWork] {
        let opened = try engine.open(location, settings: engine.settings(for: .full))
        guard let session = opened as? Role else {
            try opened.close()
            return []
        }
        let rows = try PeopleDataset().tables(size: 100, seed: Seed(1))
        let keys = (0..<100).map { Int64($0) }
        let reads = PointReads(table: "Person", keys: keys, columns: ["age"])
        let works: [(Work, () throws -> Void)] = [
            (.load, { try session.load(rows) }),
            (.insertEach, { _ = try session.insertEach(PeopleDataset.persons(100..<200), latency: nil) }),
            (.readPoints, { _ = try session.readPoints(reads, latency: nil) }),
            (.sum, { _ = try session.sum(table: "Person", column: "age") }),
            (.iterate, { _ = try session.iterate(table: "Person", column: "age") }),
            (.update, { try session.update(table: "Person", column: "age", keys: keys, values: keys) }),
            (.delete, { try session.delete(table: "Person", keys: keys) }),
        ]
        let observed = try works.map { work, body in try observe(work, session, body) }
        try session.close()
        return observed
    }

    private func observe(_ work: Work, _ session: any Session, _ body: () throws -> Void) throws -> ObservedWork {
        let tracing = session as? any TracingSession
        try tracing?.startTrace()
        let before = IOWitness.shared?.counts()
        try body()
        let after = IOWitness.shared?.counts()
        let calls = before.flatMap { before in after.map { $0 - before } }
        return ObservedWork(
            engine: engine.name, work: work, calls: calls, statements: try tracing?.endTrace() ?? [])
    }
}
