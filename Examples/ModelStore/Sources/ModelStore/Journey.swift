import Foundation
import StoreMigration
import Strata
import Synchronization

/// The way through the phases, and what is wrong at its end.
final class Journey {
    private let directory: URL
    private let kills: Int
    private let real: (store: String, new: String)?
    private var problems: [String] = []
    private var seed = 0

    init(_ directory: URL, kills: Int, real: (store: String, new: String)?) {
        self.directory = directory
        self.kills = kills
        self.real = real
    }

    private func stores() throws -> Stores { try Stores(directory, real: real) }

    func go() throws -> [String] {
        for phase in MigrationPhase.allCases {
            try enter(phase)
            if real == nil { for _ in 0..<kills { try killWriter(in: phase) } }
        }
        if real == nil { try notifications() }
        try wayBack()
        let stores = try stores()
        for phase in [MigrationPhase.bothNewRead, .new] where stores.writer.phase != .new {
            if stores.writer.phase.rawValue < phase.rawValue {
                _ = try Reconciler(stores.writer)
                try stores.writer.enter(phase)
            }
        }
        try stores.writer.retire()
        print("retired: the old store may go")
        try stores.writer.close()
        return problems
    }

    private func enter(_ phase: MigrationPhase) throws {
        let writer = try stores().writer
        if phase != .old && phase != .bothOldRead { _ = try Reconciler(writer) }
        try writer.enter(phase)
        if phase == .bothOldRead {
            let report = try Reconciler(writer).mend(.oldWins)
            print("brought over: \(report.mended) of \(report.recordsInOld) records, in \(Self.shown(report.seconds))")
        }
        try accountSwitch(writer)
        print("phase: \(phase)")
        try writer.close()
    }

    private func accountSwitch(_ writer: DoubleWriter) throws {
        try writer.close()
        try writer.compact()
        try writer.reopen()
    }

    /// A writer in a process of its own, which dies in the middle of whatever it does.
    private func killWriter(in phase: MigrationPhase) throws {
        seed += 1
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["--child", directory.path, "\(seed)"]
        let pipe = Pipe()
        child.standardOutput = pipe
        try child.run()
        // Once it has written something, at a moment that the seed gives.
        _ = try pipe.fileHandleForReading.read(upToCount: 1)
        usleep(UInt32(seed * 7_919 % 60_000))
        kill(child.processIdentifier, SIGKILL)
        let rest = pipe.fileHandleForReading.readDataToEndOfFile()
        child.waitUntilExit()

        let writer = try stores().writer
        guard phase.writesBoth else { return try writer.close() }
        let waiting = writer.waitingCount
        let divergences = try Reconciler(writer).divergences()
        print("killed after \(rest.count + 1) batches: \(divergences.count) divergences, \(waiting) batches wait")
        if !divergences.isEmpty { problems.append("\(divergences.count) records differ in \"\(phase)\"") }
        try writer.close()
    }

    /// Two threads observe one note, and hear the same.
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
        if !heardHere.contains("stars 1 5") && !heardHere.contains("stars Optional(1) Optional(5)") {
            problems.append("the thread of the store heard \(heardHere)")
        }
        if try here.models(ids).first?["title"] != .text("second") {
            problems.append("the note is not what was written")
        }
        try stores.writer.close()
    }

    /// From the new store back, and the old one has what was written meanwhile.
    private func wayBack() throws {
        let writer = try stores().writer
        try writer.enter(.bothNewRead)
        let divergences = try Reconciler(writer).divergences()
        print("way back: \(divergences.count) divergences")
        if !divergences.isEmpty { problems.append("\(divergences.count) records differ after the way back") }
        for (phase, figures) in writer.figures.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            print("figures of \"\(phase)\": comparing took \(Self.shown(figures.secondsReconciling))")
        }
        try writer.close()
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
