import Files
import JSONText
import Measuring
import Platform
import RunRecords

/// The main function of `assay worker`: it reads a request, runs one case, writes its report, and ends.
package struct Worker {
    /// The descriptor from which the runner reads the report.
    package static let reportDescriptor: Int32 = 3

    let registries: Registries

    package init(registries: Registries) {
        self.registries = registries
    }

    /// Returns the exit status of the process: 0 after a report, whatever the report says.
    package func run(parent: Int32?) -> Int32 {
        KernelCalls.dieWithParent(parent)
        forbidCoreFiles()
        #if Zoo
            PlantedDelay.beginInWorker()
        #endif
        do {
            let request = try Self.readRequest()
            ExitInsideCall.forbid()
            let report = work(request)
            ExitInsideCall.permit()
            try FileTree.writeAll(Self.reportDescriptor, report.json.bytes + [0x0A], path: "the report pipe")
            return 0
        } catch {
            let text = "worker: \(error)\n"
            text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
            return 1
        }
    }

    /// Otherwise a sweep, which may crash thousands of times, would leave as many core files.
    private func forbidCoreFiles() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        #else
            setrlimit(RLIMIT_CORE, &limit)
        #endif
    }

    private static func readRequest() throws -> WorkerRequest {
        try WorkerRequest(document: try FileTree.readBytes("/dev/stdin"), named: "request")
    }

    /// Does what the request asks for. Errors become a part of the report; findings before an error are kept.
    package func work(_ request: WorkerRequest) -> WorkerReport {
        let caseReport = CaseReport(replaying: request.onlyTrial)
        var failure: String?
        do {
            try perform(request, caseReport)
        } catch let error as EngineError {
            let outcome = error.outcomeOfRead
            caseReport.add(
                Trial(address: FaultAddress(text: "case"), outcome: outcome, detail: error.description))
            caseReport.note(error.description)
        } catch {
            failure = "\(error)"
        }
        var report = caseReport.ended
        report.harnessFailure = failure
        return report
    }

    private func perform(_ request: WorkerRequest, _ report: CaseReport) throws {
        let test = request.test
        guard let scenario = registries.scenarios.scenario(named: test.scenario) else {
            throw HarnessError("this build has no scenario \(test.scenario)")
        }
        let engine = try engine(of: request).under(test)
        var source: (any DatasetSource)?
        if !test.dataset.isEmpty {
            source = registries.dataset(named: test.dataset)
            if source == nil { throw HarnessError("this build has no data set \(test.dataset)") }
        }
        let context = CaseContext(
            test: test, engine: engine, source: source, directory: request.directory,
            fixture: request.fixture.map { DatabaseLocation(directory: $0) }, deadline: request.deadline,
            onlyTrial: request.onlyTrial, report: report)
        context.keepDirectory = request.keepDirectory
        context.executable = Checkout.executablePath(fallback: "")
        switch request.task {
        case .runCase:
            watchFiles(of: request, engine)
            let disk = SlowDisk(test)
            let start = ResourceUsage.now()
            let counts = IOWitness.shared?.counts()
            try scenario.run(context)
            addResources(ResourceUsage.now().since(start), to: report)
            if let counts, let now = IOWitness.shared?.counts() { addFileCalls(now - counts, to: report) }
            disk?.end(report)
            try checkSettings(context)
        case .runStep:
            // The delays of a step are not counted: the case reports those of its own process alone.
            if SlowDisk.isAsked(test) { watchFiles(of: request, engine) }
            _ = SlowDisk(test)
            try scenario.runStep(request.arguments, context)
        case .buildFixture:
            try buildFixture(scenario, context)
        }
    }

    /// The engine of this build, or that of the request's file, which must not have changed since the run began.
    private func engine(of request: WorkerRequest) throws -> any Engine {
        let name = request.test.engine
        guard let file = request.files.own else {
            guard let engine = registries.engines.engine(named: name) else {
                throw HarnessError("this build has no engine \(name)")
            }
            try checkLibrary(of: engine, request)
            return engine
        }
        guard let load = registries.engineOfFile else { throw HarnessError("this build loads no engines") }
        let engine = try load(file.path)
        guard engine.name == name, engine.file == file else {
            throw HarnessError(
                "\(file.path) was another one when this began (\(name), digest \(file.digest); now it is "
                    + "\(engine.name), \(engine.file?.digest ?? "")): begin again, or build it elsewhere meanwhile")
        }
        return engine
    }

    /// Checks that the library is the one with which the run began, since the settings in the report name that one.
    private func checkLibrary(of engine: any Engine, _ request: WorkerRequest) throws {
        let (wanted, found) = (request.files.library, engine.peerLibrary)
        guard wanted == found else {
            func text(_ file: EngineFile?) -> String { file.map { "\($0.path), digest \($0.digest)" } ?? "as linked" }
            throw HarnessError(
                "the library of \(engine.name) was another one when this began (\(text(wanted)); now it is "
                    + "\(text(found))): begin again, and leave the file alone meanwhile")
        }
        if let objection = engine.libraryObjection { throw HarnessError(objection) }
    }

    /// Tells the preloaded library which files are the case's, and which of them are logs.
    private func watchFiles(of request: WorkerRequest, _ engine: any Engine) {
        guard let witness = IOWitness.shared else { return }
        let roots = [request.directory, request.fixture].compactMap { $0.flatMap(FileTree.absolute) }
        _ = witness.setLogNames(engine.logPatterns)
        _ = witness.setIgnoredNames(engine.coordinationPatterns)
        // A path with a colon cannot be passed: then the calls on the case's files are not counted, and the figures are
        // absent or 0.
        if !witness.setRoot(roots) { _ = witness.setRoot([]) }
    }

    private func addFileCalls(_ counts: IOCounts, to report: CaseReport) {
        let figures: [(String, UInt64)] = [
            ("file_write_calls", counts.writeCalls), ("file_written_bytes", counts.writtenBytes),
            ("file_read_calls", counts.readCalls), ("file_syncs", counts.allSyncs), ("file_calls", counts.allCalls),
            ("file_shared_writable_maps", counts.sharedWritableMaps), ("file_unseen_calls", counts.unseenCalls),
        ]
        for (name, value) in figures {
            let metric = Metric(name, unit: name.hasSuffix("bytes") ? "bytes" : "count", .neutral, .measured)
            report.add(metric, Double(value), label: "whole case")
        }
    }

    /// Checks that a new database has the settings that the report will name: a figure is listed under its durability
    /// class, and belongs to none if the engine is in another class.
    private func checkSettings(_ context: CaseContext) throws {
        guard context.engine.capabilities.contains(.persistent),
            [.workload, .concurrency].contains(context.test.family),
            context.onlyTrial == nil, let source = context.source
        else { return }
        let location = try context.emptyLocation("settings")
        let tables = try source.tables(size: 1, seed: context.seed)
        let differences = try SettingsCheck.differences(
            context.engine, context.test.durability, tables: tables, at: location)
        try FileTree.remove(location.directory)
        if let differences, !differences.isEmpty {
            let text = differences.map(\.description).joined(separator: ", ")
            context.report.inconclusive("SETTINGS NOT MET: \(text)")
        }
    }

    /// Adds the resources of the whole case, its preparation and its oracle included. They have a label that the
    /// scenario's own figures lack.
    private func addResources(_ usage: ResourceUsage, to report: CaseReport) {
        let label = "whole case"
        let figures: [(Metric, Double)] = [
            (.peakResidentBytes, Double(usage.peakResidentBytes)),
            (.processorMilliseconds, Double(usage.processorNanoseconds) / 1e6),
            (.pageFaults, Double(usage.pageFaults)), (.readBytes, Double(usage.readBytes)),
            (.writtenBytes, Double(usage.writtenBytes)), (.readSystemCalls, Double(usage.readSystemCalls)),
            (.writeSystemCalls, Double(usage.writeSystemCalls)),
        ]
        for (metric, value) in figures { report.add(metric, value, label: label) }
    }

    private func buildFixture(_ scenario: any Scenario, _ context: CaseContext) throws {
        guard let location = context.fixture else { throw HarnessError("no place for the fixture") }
        try scenario.buildFixture(context, at: location)
        guard scenario.fixture(for: context.test)?.recipe == FixtureRequest().recipe else {
            context.report.check("fixture", expected: true, got: true)
            return
        }
        // Every later case builds on the fixture. So it is read back in full, by this process, which knows the data.
        let (outcome, detail) =
            if let source = context.sourceInPieces {
                DamageOracle.judge(
                    engine: context.engine, settings: context.settings, location: location, inPieces: source,
                    size: context.test.size)
            } else {
                DamageOracle.judge(
                    engine: context.engine, settings: context.settings, location: location,
                    expected: try context.tables())
            }
        context.report.add(Trial(address: FaultAddress(text: "fixture"), outcome: outcome, detail: detail))
    }
}
