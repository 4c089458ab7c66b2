import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Long seeded histories of four processes on one store. Processes die at seeded moments and points, and so do the
/// recovering ones, up to three in a row. Every state is checked.
///
/// Longer: `PROCESS_ROUNDS=10000 SEED=77 swift test --filter ProcessHistoryTests`. The tasks of each process are
/// repeatable, but not where the others are when one dies.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct ProcessHistoryTests {
    private static let processes = 4
    private static let rows = 8
    /// The number of deaths in a row, each in the recovery from the one before.
    private static let deepest = 3
    /// Seconds after which a worker that has not ended counts as hanging; far more than a worker's task takes.
    private static let patience = 60

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

    /// Points at which a ``StoreWorker`` ends itself: in commits, checkpoints, stores to shared memory, opens,
    /// recoveries and closes.
    private static let points = [
        "open-data", "open-log", "open-lock", "write-log", "half-write-log", "sync-log", "synced-log", "header-data",
        "half-write-data", "write-data", "sync-data", "synced-data", "preallocate-data", "truncate-data",
        "preallocate-log", "remove-log", "remove-lock", "sync-directory", "lock", "unlock", "ring", "store-record",
        "store-120", "store-136", "store-152", "store-192", "store-768", "store-840", "store-slot-8", "store-slot-20",
        "store-slot-32", "store-pin", "write-lock",
    ]

    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    /// The commits of one round, by row.
    private struct Outcome {
        var acknowledged = [Int](repeating: 0, count: ProcessHistoryTests.rows)
        /// Further commits that may have happened.
        var uncertain = [Int](repeating: 0, count: ProcessHistoryTests.rows)
        var deaths = 0
        var chains = [0, 0, 0]
        var wrong: [String] = []

        mutating func add(_ other: Outcome) {
            for row in acknowledged.indices { acknowledged[row] += other.acknowledged[row] }
            deaths += other.deaths
            for depth in chains.indices { chains[depth] += other.chains[depth] }
        }

        mutating func note(_ row: Int, _ worker: StoreWorkerProcess) {
            acknowledged[row] += worker.count("a")
            if worker.status != 0 {
                uncertain[row] += 1
                deaths += 1
            }
        }
    }

    @Test("processes that die in turns lose nothing that their durability keeps")
    func dyingProcesses() throws {
        let seed = Self.number("SEED") ?? 1
        let rounds = Self.number("PROCESS_ROUNDS").map(Int.init) ?? 4
        var total = Outcome()
        for wrong in try run(rounds, seed, [], &total) { Issue.record("\(wrong)") }
        print("SEED=\(seed), \(rounds) rounds of \(Self.processes) processes: \(Self.describe(total))")
        #expect(total.deaths > 0, "no process died")
    }

    #if Zoo
        @Test("a recovery that leaves the last batch out is found")
        func lostLastBatch() throws {
            var total = Outcome()
            let wrong = try run(60, 1, ["mistake=strata-recovery-drops-last"], &total)
            print("\(Self.describe(total)): \(wrong.first ?? "nothing")")
            #expect(!wrong.isEmpty, "it is not found")
        }
    #endif

    /// - Parameter words: for every process.
    /// - Returns: the errors of the first failing round.
    private func run(_ rounds: Int, _ seed: UInt64, _ words: [String], _ total: inout Outcome) throws -> [String] {
        var random = SplitMix64(seed: seed)
        var held = [Int](repeating: 0, count: Self.rows)
        for round in 0..<rounds {
            let durability = ["full", "full", "periodic", "none"][round % 4]
            var outcome = try play(["durability=" + durability] + words, "\(round)", &random)
            let found = try check(&outcome)
            for file in directory.names() where file.hasPrefix("store.\(round)-") {
                unlink(directory.path + "/" + file)
            }
            for row in 1..<Self.rows {
                // Without a log, commits since the last checkpoint are lost with their process.
                let kept = durability == "none" && outcome.deaths > 0 ? 0 : outcome.acknowledged[row]
                let most = outcome.acknowledged[row] + outcome.uncertain[row]
                if (held[row] + kept)...(held[row] + most) ~= found[row] { continue }
                outcome.wrong.append("row \(row) was \(held[row]), \(kept) to \(most) were added: \(found[row])")
            }
            held = found
            total.add(outcome)
            if !outcome.wrong.isEmpty {
                return outcome.wrong.map { "SEED=\(seed), round \(round), \(durability): \($0)" }
            }
            if round % 100 == 99 { print("\(round + 1) rounds: \(Self.describe(total))") }
        }
        return []
    }

    private static func describe(_ total: Outcome) -> String {
        "\(total.acknowledged.reduce(0, +)) commits acknowledged, \(total.deaths) deaths, by depth \(total.chains)"
    }

    // MARK: One round

    /// Four processes at once, some of which die, then the recovering ones.
    private func play(_ common: [String], _ name: String, _ random: inout SplitMix64) throws -> Outcome {
        var outcome = Outcome()
        var workers: [StoreWorkerProcess] = []
        for row in 1...Self.processes {
            var words = ["increment", "\(row)", "times=\(3 + random.below(20))"] + common
            for (word, share) in [("short", 3), ("online", 3), ("launch", 5)] as [(String, UInt64)]
            where random.below(share) == 0 { words.append(word) }
            if random.below(2) == 0 { words.append(Self.death(atMost: 60, &random)) }
            workers.append(try StoreWorkerProcess(path, words, name: "\(name)-\(row)"))
            usleep(UInt32(random.below(3_000)))
        }
        // Kills all processes, one, or none, at a random moment.
        let victims = [0, 1, Self.processes][Int(random.below(3))]
        usleep(UInt32(random.below(40_000)))
        for worker in workers.prefix(victims) { worker.signal(SIGKILL) }
        for (index, worker) in workers.enumerated() {
            try end(worker, common, &outcome)
            outcome.note(index + 1, worker)
        }
        outcome.chains[0] += outcome.deaths
        for depth in 1..<Self.deepest where outcome.deaths > 0 && random.below(3) > 0 {
            // One process recovers, or two try to at once.
            var heirs: [StoreWorkerProcess] = []
            for row in 0...Int(random.below(2)) {
                let words = ["once", "\(5 + row)", Self.death(atMost: 6, &random)] + common
                heirs.append(try StoreWorkerProcess(path, words, name: "\(name)-\(depth)-\(row)"))
            }
            let before = outcome.deaths
            for (row, heir) in heirs.enumerated() {
                try end(heir, common, &outcome)
                outcome.note(5 + row, heir)
            }
            outcome.chains[depth] += outcome.deaths - before
            if outcome.deaths == before { break }
        }
        return outcome
    }

    private static func death(atMost passes: UInt64, _ random: inout SplitMix64) -> String {
        let point = points[Int(random.below(UInt64(points.count)))]
        // Early passes are more likely than later ones.
        return "kill=\(point):\(random.below(1 + random.below(passes)))"
    }

    /// Each process ends by itself without an error, or is killed.
    private func end(_ worker: StoreWorkerProcess, _ words: [String], _ outcome: inout Outcome) throws {
        try worker.waitForEnd(seconds: Self.patience)
        if worker.status == -SIGKILL || worker.status == 0 { return }
        // Under `none` the versions of a dying owner are lost. Processes that have read them, or committed on top of
        // them, may end with these errors.
        let isTaken =
            words.contains("durability=none")
            && ["commitOutcomeUnknown", "poisoned"].contains { worker.errors.contains($0) }
        if !isTaken { outcome.wrong.append("a process ended with \(worker.status ?? 0): \(worker.errors)") }
    }

    // MARK: What is left

    /// Reads the state read-only, then recovers and checks it; both must be equal.
    private func check(_ outcome: inout Outcome) throws -> [Int] {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = 16 << 10
        var seen: [Int]?
        let files = POSIXFileSystem()
        // There is no file if every process died before it made one.
        if try files.status(path) != nil {
            options.readOnly = true
            let reader = try Store.open(path: path, options: options)
            seen = try values(reader.snapshot().view)
            try reader.checkInvariants()
            try reader.close()
        }
        options.readOnly = false
        let store = try Store.open(path: path, options: options)
        let found = try values(store.snapshot().view)
        try store.checkInvariants()
        try store.close()
        if let seen, seen != found { outcome.wrong.append("\(seen) was read before the recovery, \(found) after it") }
        if found[0] != found[1...].reduce(0, +) { outcome.wrong.append("a transaction is there in part: \(found)") }
        for file in [path + ".log", path + ".lock"] where try files.status(file) != nil {
            outcome.wrong.append("\(file) is there after the close")
        }
        return found
    }

    private func values(_ view: ReadView) throws -> [Int] {
        // There are no rows if every process died before it made them.
        if view.schema.tables.isEmpty { return [Int](repeating: 0, count: Self.rows) }
        return try (0..<Self.rows).map { row in
            let place = try #require(try view.locate(0, RowKey(Int64(row))))
            return Int(try view.integer(place, 0) ?? -1)
        }
    }
}
