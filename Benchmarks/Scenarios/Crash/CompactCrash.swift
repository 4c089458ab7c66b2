import Datasets
import FaultModel
import Harness
import Measuring
import RunRecords
import Seeds
import SimulatedDisk

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A compaction that ends in the middle: its process is killed, and where the engine runs on the simulated disk, power
/// is cut at every operation of it.
///
/// A violation: anything but all rows that were there before, an open that fails afterwards, or files of the
/// compaction that are still there when the database was opened and closed again.
struct CompactCrash: Scenario {
    let slug = "compact-crash"
    let family = Family.crash
    let question = "Is everything there, and nothing else, after a compaction was interrupted anywhere?"
    let requires: Set<Capability> = [.tables, .persistent, .deletions, .compaction]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .atomicity
    let parameters = [
        ScenarioParameter(
            "kills", default: "60", range: 0...100_000, summary: "processes killed at moments of the compaction"),
        ScenarioParameter(
            "rows", default: "120", range: 2...100_000, summary: "rows of the database on the simulated disk"),
        ScenarioParameter("states", default: "5000", summary: "disks that are opened at most"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// The database as it was loaded, half of it deleted.
    private struct Prepared {
        var files: [(name: String, bytes: [UInt8])]
        var oracle: ExactOracle
        /// How long a compaction that nobody disturbs takes.
        var microseconds: Int
        /// What stands in the directory after it, and after the database was opened and closed.
        var names: Set<String>
        var bytes: Int { files.reduce(0) { $0 + $1.bytes.count } }
    }

    func run(_ context: CaseContext) throws {
        try killCompactions(context)
        // After the kills: this process may not fork any more when an engine was opened in it.
        if context.report.replayed?.exists == true { return }
        if let engine = context.engine as? any SimulatableEngine { try cutPower(engine, context) }
    }

    // MARK: Kills

    private func killCompactions(_ context: CaseContext) throws {
        let fixture = try context.fixtureLocation()
        var deletion = try HalfDeletion(try context.tables())
        let preparing = try ForkedChild.start { _ in
            Self.status {
                let session = try context.open(fixture, as: (any DeletionSession).self)
                _ = try deletion.run(session)
                try session.close()
            }
        }
        guard preparing.wait() == .exited(0) else { throw HarnessError("half of the rows could not be deleted") }
        var oracle = ExactOracle(try context.tables())
        oracle.delete(table: deletion.table, keys: deletion.keys)
        var files: [(name: String, bytes: [UInt8])] = []
        for file in context.engine.files(at: fixture) where file.role != .lock {
            files.append((String(file.path.dropFirst(fixture.directory.count + 1)), try FileTree.readBytes(file.path)))
        }
        var prepared = Prepared(files: files, oracle: oracle, microseconds: 0, names: [])
        try measure(context, &prepared)
        let addresses = (0..<(try context.integer("kills"))).map { FaultAddress("kill", $0) }
        try context.sweep(addresses, secondsPerTrial: 30) { [prepared] address in
            let (outcome, detail) = try Self.kill(context, prepared, address)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
    }

    private static func place(_ directory: String, _ prepared: Prepared) throws -> DatabaseLocation {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        for file in prepared.files { try FileTree.writeBytes(directory + "/" + file.name, file.bytes) }
        return DatabaseLocation(directory: directory)
    }

    private func measure(_ context: CaseContext, _ prepared: inout Prepared) throws {
        let location = try Self.place(context.directory + "/measured", prepared)
        let start = MonotonicClock.now()
        let child = try ForkedChild.start { output in Self.compact(context, location, output) }
        guard child.wait() == .exited(0) else { throw HarnessError("the compaction failed by itself") }
        prepared.microseconds = Int((MonotonicClock.now() - start) / 1_000)
        prepared.names = Set(try FileTree.names(in: location.directory))
        try FileTree.remove(location.directory)
    }

    private static func compact(_ context: CaseContext, _ location: DatabaseLocation, _ output: Int32) -> Int32 {
        status {
            let session = try context.open(location, as: (any CompactionSession).self)
            var byte: UInt8 = 1
            _ = write(output, &byte, 1)
            try session.compact()
            try session.close()
        }
    }

    private static func kill(
        _ context: CaseContext, _ prepared: Prepared, _ address: FaultAddress
    ) throws -> (Outcome, String) {
        let location = try place(context.trialDirectory + "/database", prepared)
        var random = context.random("kill \(address.position ?? 0)")
        let child = try ForkedChild.start { output in compact(context, location, output) }
        var byte: UInt8 = 0
        guard read(child.output, &byte, 1) == 1 else { throw HarnessError("the compaction failed: \(child.wait())") }
        usleep(UInt32(random.below(max(1, prepared.microseconds))))
        child.kill()
        child.wait()
        let reader = try ForkedChild.start { output in
            let (outcome, detail) = judge(context, location, prepared)
            let text = Array("\(outcome.rawValue)\n\(detail)".utf8)
            return write(output, text, text.count) == text.count ? 0 : 1
        }
        var text: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(reader.output, &bytes, bytes.count)
            if count <= 0 { break }
            text += bytes[..<count]
        }
        if case .signalled(let signal) = reader.wait() { return (.crashed, "signal \(signal) when opened again") }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", maxSplits: 1)
        guard let first = lines.first, let outcome = Outcome(rawValue: String(first)) else {
            throw HarnessError("the reader reported nothing")
        }
        return (outcome, lines.count > 1 ? String(lines[1]) : "")
    }

    private static func judge(
        _ context: CaseContext, _ location: DatabaseLocation, _ prepared: Prepared
    ) -> (Outcome, String) {
        let (outcome, detail) = DamageOracle.judge(
            engine: context.engine, settings: context.settings, location: location, expected: prepared.oracle)
        guard outcome == .correct else { return (outcome, detail) }
        do {
            // A file that only grows is no leftover; an engine of many files names new ones.
            let total = try FileTree.totalSize(location.directory)
            if total <= prepared.bytes + prepared.bytes / 4 + 1 << 20 { return (.correct, "") }
            let names = Set(try FileTree.names(in: location.directory)).subtracting(prepared.names).sorted()
            return (.silentlyWrong, "\(total) bytes are left of \(prepared.bytes), with \(names)")
        } catch {
            return (.refused, "\(error)")
        }
    }

    private static func status(_ body: () throws -> Void) -> Int32 {
        do {
            try body()
            return 0
        } catch {
            let text = "\(error)\n"
            text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
            return 1
        }
    }

    private static func read(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, bytes, count)
        #else
            Darwin.read(descriptor, bytes, count)
        #endif
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes, count)
        #else
            Darwin.write(descriptor, bytes, count)
        #endif
    }

    // MARK: Power

    private static let location = DatabaseLocation(directory: "/folder")

    private func cutPower(_ engine: any SimulatableEngine, _ context: CaseContext) throws {
        let tables = try PeopleDataset().tables(size: try context.integer("rows"), seed: Seed(0))
        let most = try context.integer("states")
        let disk = SimulatedDisk(seed: Seed(context.seed.rawValue))
        var deletion = try HalfDeletion(tables)
        let first = try engine.open(on: disk, Self.location, settings: context.settings)
        guard let loading = first as? any TableSession, let deleting = first as? any DeletionSession else {
            throw HarnessError("\(engine.name) declares a capability that its session has not")
        }
        try loading.load(tables)
        _ = try deletion.run(deleting)
        try first.close()
        let begun = disk.operations
        disk.setOperation("compact")
        try engine.openCompacting(on: disk, Self.location, settings: context.settings).close()
        var tried = 0
        var sweep = disk.sweep()
        let found = sweep.visit(points: begun..<(disk.operations + 1)) { state in
            let (outcome, detail) = judge(engine, context, disk.crash(state), deletion.oracle)
            context.report.add(
                Trial(address: FaultAddress(text: "\(state.address)"), outcome: outcome, detail: detail))
            tried += 1
            if context.isOverBudget { context.report.cut() }
            return tried < most && !context.isOverBudget
        }
        context.report.note("power cut during a compaction of \(tables.main.rowCount) rows: \(found)")
    }

    private func judge(
        _ engine: any SimulatableEngine, _ context: CaseContext, _ disk: SimulatedDisk, _ oracle: ExactOracle
    ) -> (Outcome, String) {
        let comparison = FullReadComparison(oracle)
        do {
            disk.setOperation("recover")
            let session = try engine.open(on: disk, Self.location, settings: context.settings)
            guard let tables = session as? any TableSession else { throw EngineError(.unsupported, "no tables") }
            try tables.readAll(oracle.schema, into: comparison)
            try session.close()
            try engine.check(on: disk, Self.location)
        } catch let error as EngineError {
            return (error.kind == .damaged ? .detectedAtRead : .refused, "\(error)")
        } catch {
            return (.refused, "\(error)")
        }
        comparison.finish()
        if let difference = comparison.difference { return (.silentlyWrong, difference) }
        return (.correct, "")
    }
}
