import Commands
import Datasets
import Harness
import RunRecords
import Seeds

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct EqualWorkCommand: Command {
    let name = "equal-work"
    let summary = "prints what each engine does for a figure, as Markdown: docs/equal-work.md"
    let question = "do two figures compare?"
    let positional: [String] = []
    let options = [OptionSpecification("--declared", "what the adapters declare alone, without running anything")]

    func run(_ arguments: Arguments) throws -> Int32 {
        let engines = BuildRegistries.make().engines.engines.filter { $0.workNote(.readPoints) != nil }
        try Output.write(EqualWork.declared(engines))
        if arguments.has("--declared") { return 0 }
        try Output.line()
        try Output.line("## Statements that ran")
        try Output.line()
        try Output.line(
            "For 100 rows, counted by the engine where it tells. System calls are counted elsewhere: a column")
        try Output.line("of theirs stands here where the run was witnessed.")
        try Output.line()
        try Output.line("| engine | work | times | statement | system calls |")
        try Output.line("|---|---|---|---|---|")
        for engine in engines { try observe(engine) }
        return 0
    }

    private func observe(_ engine: any Engine) throws {
        let directory = "\(FileTree.exists("/dev/shm") ? "/dev/shm" : "/tmp")/assay-equal-work-\(getpid())"
        try FileTree.createDirectory(directory)
        defer {
            do { try FileTree.remove(directory) } catch { Output.error("\(directory) is left behind: \(error)") }
        }
        let location = DatabaseLocation(directory: directory)
        let session = try engine.open(location, settings: engine.settings(for: .full))
        guard let session = session as? any TableSession & QuerySession & UpdateSession & DeletionSession,
            let tracing = session as? any TracingSession
        else { return try session.close() }
        let rows = try PeopleDataset().tables(size: 100, seed: Seed(1))
        let keys = (0..<100).map { Int64($0) }
        func trace(_ work: Work, _ body: () throws -> Void) throws {
            try tracing.startTrace()
            try body()
            for (statement, count) in try tracing.endTrace() {
                try Output.line("| `\(engine.name)` | \(work.rawValue) | \(count) | `\(statement)` | |")
            }
        }
        try trace(.load) { try session.load(rows) }
        try trace(.insertEach) { _ = try session.insertEach(PeopleDataset.persons(100..<200), latency: nil) }
        try trace(.readPoints) {
            _ = try session.readPoints(PointReads(table: "Person", keys: keys, columns: ["age"]), latency: nil)
        }
        try trace(.sum) { _ = try session.sum(table: "Person", column: "age") }
        try trace(.iterate) { _ = try session.iterate(table: "Person", column: "age") }
        try trace(.update) { try session.update(table: "Person", column: "age", keys: keys, values: keys) }
        try trace(.delete) { try session.delete(table: "Person", keys: keys) }
        try session.close()
    }
}
