import Files
import Harness
import History
import Measuring
import Platform
import RunRecords

/// The transactions of one actor of a history, in the format of ``HistoryLog``.
struct TransactionLane: EndingLane, Sendable {
    var words: [Int64] = []
    var failures = TransactionFailures()
    var isCut = false
    var failure: EngineError?

    /// Throws the first failure. Called after everything else is in the report.
    static func throwFailure(of lanes: [TransactionLane]) throws {
        if let failure = lanes.compactMap(\.failure).first { throw failure }
    }

    // MARK: Threads

    /// Runs these actors as threads of this process.
    static func run(
        _ context: CaseContext, _ location: DatabaseLocation, actors: Range<Int>,
        plans: @escaping @Sendable (_ actor: Int) -> [PlannedTransaction]
    ) throws -> [TransactionLane] {
        let (engine, settings, deadline) = (context.engine, context.settings, context.deadline)
        let line = StartLine(count: actors.count)
        return try ThreadGroup.run(actors.count) { index in
            let plans = plans(actors.lowerBound + index)
            let opened = Result {
                try CaseContext.session(engine, location, settings, as: (any TransactionSession).self)
            }
            line.arriveAndWait()
            return try work(plans, actor: actors.lowerBound + index, deadline) { try opened.get() }
        }
    }

    private static func work(
        _ plans: [PlannedTransaction], actor number: Int, _ deadline: UInt64?,
        _ open: () throws -> any TransactionSession
    ) throws -> TransactionLane {
        var lane = TransactionLane()
        var actor = TransactionActor(number: number)
        var failure: (any Error)?
        do {
            let session = try open()
            for plan in plans {
                if let deadline, MonotonicClock.now() >= deadline {
                    lane.isCut = true
                    break
                }
                try actor.run(plan, on: session)
            }
            try session.close()
        } catch {
            failure = error
        }
        lane.words = actor.log.words
        lane.failures = actor.failures
        if let failure { try lane.end(by: failure) }
        return lane
    }

    /// The final content after all writers have ended, read by a new session.
    static func read(
        _ context: CaseContext, _ location: DatabaseLocation, _ plans: [PlannedTransaction], actor: Int
    ) throws -> TransactionLane {
        try work(plans, actor: actor, nil) { try context.open(location, as: (any TransactionSession).self) }
    }

    // MARK: Processes

    /// Runs processes with as many threads each, and kills some of them at moments chosen by the seed. Inconclusive
    /// when all ended before their kill.
    static func fork(
        _ context: CaseContext, _ location: DatabaseLocation, _ mix: TransactionMix, processes: Int, threads: Int,
        kills: Int
    ) throws -> [TransactionLane] {
        let gate = context.directory + "/go"
        var children: [ForkedChild] = []
        for process in 0..<processes {
            let actors = (process * threads)..<((process + 1) * threads)
            children.append(
                try ForkedChild.start { _ in child(context, location, mix: mix, actors: actors, gate: gate) })
        }
        for actor in 0..<(processes * threads) { try waitFor(context, actor, children) }
        try FileTree.writeText(gate, "")
        var random = context.random("kills")
        for victim in 0..<kills {
            usleep(UInt32(1_000 + random.below(20_000)))
            children[victim].kill()
        }
        let ends = children.map { $0.wait() }
        var hits = 0
        for (process, end) in ends.enumerated() {
            switch end {
            case .exited(0): break
            case .exited(let status):
                let first = process * threads
                // A refusal in one of its threads is recorded in that thread's lane.
                let isTold = (first..<(first + threads)).contains { FileTree.exists(failure(context, $0)) }
                if isTold { continue }
                let path = processFailure(context, first)
                let reason = FileTree.exists(path) ? try FileTree.readText(path) : "no reason given"
                throw HarnessError("a process with transactions ended with \(status): \(reason)")
            case .signalled(SIGKILL) where process < kills: hits += 1
            case .signalled(let signal):
                context.report.add(
                    Trial(
                        address: FaultAddress(text: "process"), outcome: .crashed, detail: "signal \(signal)",
                        signal: signal))
            }
        }
        if kills > 0 {
            context.require(hits, "no kill hit: the processes had ended before")
            context.report.note("\(hits) of \(kills) kills hit")
        }
        return try (0..<(processes * threads)).map { actor in try read(context, actor) }
    }

    private static func ready(_ context: CaseContext, _ actor: Int) -> String { "\(context.directory)/ready-\(actor)" }
    private static func file(_ context: CaseContext, _ actor: Int) -> String { "\(context.directory)/actor-\(actor)" }
    private static func failure(_ context: CaseContext, _ actor: Int) -> String { file(context, actor) + ".error" }
    private static func processFailure(_ context: CaseContext, _ first: Int) -> String {
        "\(context.directory)/process-\(first).error"
    }

    /// Waits until an actor is ready or has failed, or a process has ended early.
    private static func waitFor(_ context: CaseContext, _ actor: Int, _ children: [ForkedChild]) throws {
        let end = MonotonicClock.now() + 60_000_000_000
        while !FileTree.exists(ready(context, actor)), !FileTree.exists(failure(context, actor)) {
            guard MonotonicClock.now() < end else {
                throw HarnessError("actor \(actor) was not ready to begin after 60 s")
            }
            usleep(500)
            // The pipe of an ended process is closed at its other end.
            var pipes = children.map { pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0) }
            if poll(&pipes, nfds_t(pipes.count), 0) > 0 { return }
        }
    }

    private static func child(
        _ context: CaseContext, _ location: DatabaseLocation, mix: TransactionMix, actors: Range<Int>,
        gate: String
    ) -> Int32 {
        let (engine, settings, deadline) = (context.engine, context.settings, context.deadline)
        let directory = context.directory
        do {
            let results = try ThreadGroup.run(actors.count) { index in
                let actor = actors.lowerBound + index
                let path = "\(directory)/actor-\(actor)"
                do {
                    try work(
                        engine, settings, location: location, plans: mix.plans(of: actor), number: actor, path: path,
                        gate: gate,
                        ready: "\(directory)/ready-\(actor)", deadline: deadline)
                    return true
                } catch {
                    try FileTree.replaceText(path + ".error", Self.text(of: error))
                    return false
                }
            }
            return results.allSatisfy { $0 } ? 0 : 1
        } catch {
            do {
                try FileTree.writeText(processFailure(context, actors.lowerBound), "\(error)")
            } catch {
                return 3
            }
            return 2
        }
    }

    /// The first line is the kind of the engine's error, empty for any other error.
    private static func text(of error: any Error) -> String {
        guard let error = error as? EngineError else { return "\n\(error)" }
        return "\(error.kind.rawValue)\n\(error.message)"
    }

    private static func error(of text: String) -> any Error {
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let message = parts.count > 1 ? parts[1] : ""
        guard let kind = EngineError.Kind(rawValue: parts[0]) else {
            return HarnessError("an actor failed: \(message)")
        }
        return EngineError(kind, message)
    }

    private static func work(
        _ engine: any Engine, _ settings: EngineSettings, location: DatabaseLocation, plans: [PlannedTransaction],
        number: Int, path: String, gate: String, ready: String, deadline: UInt64
    ) throws {
        let session = try CaseContext.session(engine, location, settings, as: (any TransactionSession).self)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw HarnessError("cannot write \(path)") }
        defer { close(descriptor) }
        try FileTree.writeText(ready, "")
        while !FileTree.exists(gate) { usleep(200) }
        var actor = TransactionActor(number: number)
        var told = TransactionFailures()
        for plan in plans {
            if MonotonicClock.now() >= deadline {
                try FileTree.writeText(path + ".cut", "")
                break
            }
            // One write call each: the page cache outlives the process.
            try actor.run(plan, on: session) { words in
                try FileTree.writeAll(descriptor, words.withUnsafeBytes { Array($0) }, path: path)
            }
            // Written at once, since a killed process writes nothing at its end.
            if actor.failures != told {
                told = actor.failures
                try FileTree.replaceText(path + ".failures", told.text)
            }
        }
        try session.close()
    }

    private static func read(_ context: CaseContext, _ actor: Int) throws -> TransactionLane {
        let path = file(context, actor)
        // An actor killed before its first transaction has left no file.
        let bytes = FileTree.exists(path) ? try FileTree.readBytes(path) : []
        var lane = TransactionLane()
        bytes.withUnsafeBytes { raw in
            for place in stride(from: 0, to: raw.count & ~7, by: 8) {
                lane.words.append(raw.loadUnaligned(fromByteOffset: place, as: Int64.self))
            }
        }
        let failures = path + ".failures"
        if FileTree.exists(failures) { lane.failures = TransactionFailures(text: try FileTree.readText(failures)) }
        lane.isCut = FileTree.exists(path + ".cut")
        let failure = failure(context, actor)
        if FileTree.exists(failure) { try lane.end(by: error(of: try FileTree.readText(failure))) }
        return lane
    }
}
