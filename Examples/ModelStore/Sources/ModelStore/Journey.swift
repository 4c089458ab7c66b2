import Foundation
import StoreMigration
import Strata
import Synchronization

/// Takes the stores through every phase of the migration, kills writers in each, and collects what is wrong.
final class Journey {
    private let directory: URL
    private let isOfNotes: Bool
    private let kills: Int
    private let leavingOut: Set<String>
    private var problems: [String] = []
    private var seed = 0

    /// - Parameter store: the store to copy; nil for a store of notes.
    init(_ directory: URL, of store: String?, kills: Int, leavingOut: Set<String>) throws {
        self.directory = directory
        self.kills = kills
        self.leavingOut = leavingOut
        isOfNotes = store == nil
        if let store { try Stores.copy(store, to: directory) } else { try Stores.makeNotes(directory) }
    }

    private func stores() throws -> Stores { try Stores(directory, leavingOut: leavingOut) }

    func go() throws -> [String] {
        for phase in MigrationPhase.allCases {
            try enter(phase)
            for _ in 0..<kills { try killWriter(in: phase) }
            try write(in: phase)
        }
        if isOfNotes { try notifications() }
        try wayBack()
        try enter(.new)
        let writer = try stores().writer
        try writer.retire()
        print("retired: the old store may go")
        try writer.close()
        return problems
    }

    private func enter(_ phase: MigrationPhase) throws {
        let writer = try stores().writer
        if phase == .bothNewRead || phase == .new { _ = try Reconciler(writer) }
        try writer.enter(phase)
        if phase == .bothOldRead {
            let report = try Reconciler(writer).mend(.oldWins)
            print(
                "brought over: \(report.mended) of \(report.recordsInOld) records, \(report.left) left, in "
                    + Self.shown(report.seconds))
            if report.left > 0 { problems.append("\(report.left) records differ: \(report.firstRefusal as Any)") }
        }
        // An application does this when its user switches accounts.
        try writer.close()
        try writer.compact()
        try writer.reopen()
        print("phase: \(phase); closed, made small and opened again")
        try writer.close()
    }

    /// Starts a writer in a process of its own, kills it at a seeded moment after its first batch, and compares the
    /// stores.
    private func killWriter(in phase: MigrationPhase) throws {
        seed += 1
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["--child", directory.path, "\(seed)"] + leavingOut.flatMap { ["--leave-out", $0] }
        let pipe = Pipe()
        child.standardOutput = pipe
        try child.run()
        // The writer prints a byte after each batch.
        let first = try pipe.fileHandleForReading.read(upToCount: 1) ?? Data()
        usleep(UInt32(seed * 7_919 % 60_000))
        kill(child.processIdentifier, SIGKILL)
        let batches = first.count + pipe.fileHandleForReading.readDataToEndOfFile().count
        child.waitUntilExit()
        try compare("killed after \(batches) batches", in: phase, stores().writer)
    }

    private func compare(_ what: String, in phase: MigrationPhase, _ writer: DoubleWriter) throws {
        if phase.writesBoth {
            let waiting = writer.waitingCount
            let reconciler = try Reconciler(writer)
            let report = try reconciler.mend(.ask { _ in .leave })
            print(
                "\(what): \(report.recordsInOld) and \(report.recordsInNew) records compared, "
                    + "\(report.found) divergences, \(waiting) batches wait")
            if report.found > 0 { problems.append("\(report.found) records differ in \"\(phase)\"") }
        } else {
            print("\(what): one store is written, and the other is behind")
        }
        try writer.close()
    }

    /// Runs a writer that is not killed, prints the times of its batches, and compares the stores.
    private func write(in phase: MigrationPhase) throws {
        seed += 1
        let stores = try stores()
        try stores.write(seed: seed, batches: 50)
        let lag = try stores.writer.lagSeconds
        if let figures = stores.writer.figures[phase] {
            print(
                "figures of \"\(phase)\": \(figures.batches) batches, \(figures.changes) changes, "
                    + "\(Self.shown(figures.secondsInOld)) in the old store, "
                    + "\(Self.shown(figures.secondsInNew)) in the new one, "
                    + "\(Self.shown(figures.secondsInOutbox)) in the outbox, lag \(Self.shown(lag))")
        }
        try compare("written", in: phase, stores.writer)
    }

    /// Two threads observe one note: both must hear of a change of its stars.
    private func notifications() throws {
        let stores = try stores()
        let here = try NoteStore(stores.writer, stores.configuration)
        let ids = try here.insert(Data(#"[{"id": 1, "title": "first", "stars": 1, "changed": 1}]"#.utf8))
        var heardHere: [String] = []
        here.observe(1) { heardHere.append($0) }
        let there = Listener(stores)
        there.start()
        while !there.isListening { usleep(1_000) }
        _ = try here.insert(Data(#"[{"id": 1, "title": "second", "changed": 1}]"#.utf8))
        _ = try here.insert(Data(#"[{"id": 1, "stars": 5, "changed": 1}]"#.utf8))
        here.refresh()
        for _ in 0..<5_000 where !there.heard.contains(where: { $0.hasPrefix("stars") }) {
            usleep(1_000)
        }
        there.stop()
        here.release(1)
        _ = try here.insert(Data(#"[{"id": 1, "stars": 2, "changed": 1}]"#.utf8))
        here.refresh()
        print("the thread of the store heard: \(heardHere.joined(separator: ", "))")
        print("another thread heard: \(there.heard.joined(separator: ", "))")
        if !heardHere.contains("stars 1 5") || !there.heard.contains("stars 1 5") {
            problems.append("a thread did not hear of the stars: \(heardHere), \(there.heard)")
        }
        if try here.models(ids).first?["title"] != .text("second") {
            problems.append("the note is not what was written")
        }
        try stores.writer.close()
    }

    /// Returns from the new store; the old one has the changes made meanwhile.
    private func wayBack() throws {
        let writer = try stores().writer
        try writer.enter(.bothNewRead)
        try compare("way back", in: .bothNewRead, writer)
    }

    private static func shown(_ seconds: Double) -> String { "\(Int((seconds * 1_000).rounded())) ms" }
}

/// Observes note 1 on a thread of its own.
private final class Listener: Sendable {
    private struct State {
        var isListening = false
        var isStopped = false
        var heard: [String] = []
    }

    private let state = Mutex(State())
    private let stores: Stores

    init(_ stores: Stores) { self.stores = stores }

    var heard: [String] { state.withLock { $0.heard } }
    var isListening: Bool { state.withLock { $0.isListening } }
    func stop() { state.withLock { $0.isStopped = true } }

    func start() {
        Thread.detachNewThread { [self] in
            do {
                let store = try NoteStore(stores.writer, stores.configuration)
                store.observe(1) { words in self.state.withLock { $0.heard.append(words) } }
                state.withLock { $0.isListening = true }
                while !state.withLock({ $0.isStopped }) {
                    store.refresh()
                    usleep(1_000)
                }
                store.release(1)
            } catch {
                state.withLock {
                    $0.isListening = true
                    $0.heard.append("error: \(error)")
                }
            }
        }
    }
}
