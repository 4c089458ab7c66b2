import Platform
import StrataFiles
import StrataStorage
import Testing

/// Processes that end themselves at a named point: before each operation on a file, and before each store to shared
/// memory. The next process goes on, and no acknowledged commit is lost.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct DyingProcessTests {
    private static let rows = 8
    /// Seconds after which a worker that has not ended counts as hanging; far more than a worker's task takes.
    private static let patience = 20

    /// The role of the process that dies.
    enum Role: String, CaseIterable, Sendable {
        /// Creates the store, commits with a checkpoint in between, and closes it.
        case alone
        /// Owns writing, and commits for others.
        case owner
        /// Commits as a guest of another process that owns writing.
        case guest
        /// Recovers after another process died, while others read.
        case heir
    }

    /// The work of the dying process, besides committing.
    enum Work: String, CaseIterable, Sendable { case open, launch, online }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// One store, and the arguments of the process that dies.
    private struct Field {
        let path: String
        let words: [String]

        func worker(_ words: [String], _ name: String) throws -> StoreWorkerProcess {
            try StoreWorkerProcess(path, words, name: name)
        }

        func stop() { close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644)) }

        /// Runs the role; with a signal in `words` the process dies on the way.
        /// - Returns: acknowledged commits per row, and further ones that may have happened.
        func play(_ role: Role) throws -> (acknowledged: [Int], uncertain: [Int]) {
            switch role {
            case .alone: return try playAlone()
            case .owner: return try playOwner()
            case .guest: return try playGuest()
            case .heir: return try playHeir()
            }
        }

        /// Commits, and compacts if the work says so, on an existing store.
        func play(_ work: Work, _ durability: String) throws -> (acknowledged: [Int], uncertain: [Int]) {
            let setting = "durability=" + durability
            // The store is left by a process that is killed, unless its commits would be lost with it; then it is
            // closed.
            let first = try worker(["increment", "1", "times=9", "stay", setting], "left")
            _ = try first.waitForLetterOrEnd("s", seconds: DyingProcessTests.patience)
            if work == .open && durability != "none" {
                first.end(SIGKILL)
            } else {
                stop()
                try first.waitForEnd(seconds: DyingProcessTests.patience)
                unlink(path + ".stop")
            }
            let second: StoreWorkerProcess
            switch work {
            case .open: second = try worker(["once", "2", setting] + words, "second")
            case .launch: second = try worker(["once", "2", setting, "launch"] + words, "second")
            case .online: second = try worker(["grow", "2", "times=12", setting, "online"] + words, "second")
            }
            try second.waitForEnd(seconds: DyingProcessTests.patience)
            var (acknowledged, uncertain) = counts([(1, first), (2, second)])
            uncertain[1] = 0
            if durability == "none" && second.status != 0 {
                // Commits since the last checkpoint are lost with the process.
                uncertain[2] += acknowledged[2]
                acknowledged[2] = 0
            }
            return (acknowledged, uncertain)
        }

        private func counts(_ workers: [(row: Int, worker: StoreWorkerProcess)]) -> ([Int], [Int]) {
            var acknowledged = [Int](repeating: 0, count: DyingProcessTests.rows)
            var uncertain = acknowledged
            for (row, worker) in workers {
                acknowledged[row] = worker.count("a")
                if worker.status != 0 { uncertain[row] = 1 }
            }
            return (acknowledged, uncertain)
        }

        private func playAlone() throws -> ([Int], [Int]) {
            let first = try worker(["increment", "1", "times=14"] + words, "first")
            try first.waitForEnd(seconds: DyingProcessTests.patience)
            return counts([(1, first)])
        }

        /// The first process owns writing; the second one has to commit whether the first one dies or not.
        private func playOwner() throws -> ([Int], [Int]) {
            let first = try worker(["increment", "1", "times=30", "short", "stay"] + words, "first")
            let isUp = try first.waitForLetterOrEnd("r", seconds: DyingProcessTests.patience)
            let second = try worker(["increment", "2", "times=12", "short"], "second")
            try second.waitForEnd(seconds: DyingProcessTests.patience)
            #expect(second.status == 0 && second.count("a") == 12, "\(words) \(isUp) \(second.errors)")
            stop()
            try first.waitForEnd(seconds: DyingProcessTests.patience)
            return counts([(1, first), (2, second)])
        }

        private func playGuest() throws -> ([Int], [Int]) {
            let owner = try worker(["increment", "2", "times=6", "short", "stay"], "owner")
            try owner.waitFor("a", times: 3)
            let guest = try worker(["increment", "1", "times=10"] + words, "guest")
            try guest.waitForEnd(seconds: DyingProcessTests.patience)
            let third = try worker(["increment", "3", "times=4", "short"], "third")
            try third.waitForEnd(seconds: DyingProcessTests.patience)
            #expect(third.status == 0 && third.count("a") == 4, "\(words) \(third.errors)")
            stop()
            try owner.waitForEnd(seconds: DyingProcessTests.patience)
            #expect(owner.status == 0, "\(words) \(owner.errors)")
            return counts([(1, guest), (2, owner), (3, third)])
        }

        private func playHeir() throws -> ([Int], [Int]) {
            let owner = try worker(["increment", "2", "times=8", "stay"], "owner")
            try owner.waitFor("s")
            let reader = try worker(["pin"], "reader")
            try reader.waitFor("p")
            owner.end(SIGKILL)
            let heir = try worker(["increment", "1", "times=4"] + words, "heir")
            try heir.waitForEnd(seconds: DyingProcessTests.patience)
            let third = try worker(["increment", "3", "times=4"], "third")
            try third.waitForEnd(seconds: DyingProcessTests.patience)
            #expect(third.status == 0 && third.count("a") == 4, "\(words) \(third.errors)")
            stop()
            try reader.waitForEnd(seconds: DyingProcessTests.patience)
            #expect(reader.status == 0, "\(words) \(reader.errors)")
            return counts([(1, heir), (2, owner), (3, third)])
        }

        /// Lets one more process commit, then opens the store alone and compares every row with the acknowledged
        /// commits.
        func check(_ acknowledged: [Int], _ uncertain: [Int]) throws {
            let next = try worker(["once", "7"], "next")
            try next.waitForEnd(seconds: DyingProcessTests.patience)
            #expect(next.status == 0 && next.count("a") == 1, "\(words) \(next.errors)")
            var options = StoreOptions()
            options.limits = .tiny
            let store = try Store.open(path: path, options: options)
            try store.checkInvariants()
            let view = try store.snapshot().view
            var sum = 0
            for row in 1..<DyingProcessTests.rows {
                let place = try #require(try view.locate(0, RowKey(Int64(row))))
                let found = Int(try view.integer(place, 0) ?? -1)
                let least = row == 7 ? 1 : acknowledged[row]
                #expect((least...(least + uncertain[row])).contains(found), "\(words): row \(row)")
                sum += found
            }
            let place = try #require(try view.locate(0, RowKey(0)))
            #expect(try view.integer(place, 0) == Int64(sum), "\(words)")
            try store.close()
        }
    }

    private func field(_ name: String, _ words: [String]) -> Field {
        Field(path: directory.path + "/" + name, words: words)
    }

    /// The points that a process passes, with their counts.
    private func points(
        _ play: (Field) throws -> (acknowledged: [Int], uncertain: [Int])
    ) throws -> [(point: String, passes: Int)] {
        let list = directory.path + "/points"
        let field = field("trace", ["points=" + list])
        let (acknowledged, uncertain) = try play(field)
        try field.check(acknowledged, uncertain)
        let lines = StoreWorkerProcess.text(list).split(separator: "\n")
        return lines.compactMap { line in
            let words = line.split(separator: ":")
            guard words.count == 2, let passes = Int(words[1]) else { return nil }
            return (String(words[0]), passes)
        }
    }

    @Test("a process that dies at any point leaves a store that others can use", arguments: Role.allCases)
    func death(role: Role) throws {
        try die("\(role)", most: 16) { try $0.play(role) }
    }

    @Test(
        "a process that dies at any point of an open or a compaction leaves a usable store", arguments: Work.allCases,
        ["full", "periodic", "none"])
    func deathInAnOpen(work: Work, durability: String) throws {
        let passed = try die("\(work), \(durability)", most: 5) { try $0.play(work, durability) }
        switch work {
        case .open: #expect(passed.contains(durability == "none" ? "open-data" : "open-log"))
        case .launch: #expect(passed.contains("rename-data"), "nothing was compacted")
        case .online: #expect(passed.contains("truncate-data"), "nothing was compacted")
        }
    }

    /// Kills a process at each of its points, or at some of them.
    /// - Returns: the points.
    @discardableResult
    private func die(
        _ name: String, most: Int, _ play: (Field) throws -> (acknowledged: [Int], uncertain: [Int])
    ) throws -> Set<String> {
        let seed: UInt64 = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
        // Trying every point takes several thousand processes.
        let most = getenv("DEATHS").flatMap { Int(String(cString: $0)) } ?? most
        var random = SplitMix64(seed: seed)
        var places: [(point: String, pass: Int)] = []
        let passed = try points(play)
        for (point, passes) in passed {
            places.append((point, 0))
            let other = Int(random.below(UInt64(passes)))
            if other > 0 { places.append((point, other)) }
        }
        let all = places.count
        for index in places.indices { places.swapAt(index, index + Int(random.below(UInt64(all - index)))) }
        for (point, pass) in places.prefix(most) {
            let field = field("\(point)-\(pass)", ["kill=\(point):\(pass)"])
            do {
                let (acknowledged, uncertain) = try play(field)
                try field.check(acknowledged, uncertain)
            } catch {
                Issue.record("\(name) died at \(point):\(pass): \(error)")
            }
        }
        print("\(name): died at \(min(all, most)) of \(all) places; SEED=\(seed), all with DEATHS=1000000")
        return Set(passed.map(\.point))
    }

    @Test("a writer stopped within a sync blocks writers, not readers; killed, it loses nothing")
    func stoppedLeader() throws {
        let field = field("stopped", ["stop=sync-log:2"])
        let leader = try field.worker(["increment", "1", "short", "times=20"] + field.words, "leader")
        try leader.waitForStop(seconds: Self.patience)
        let acknowledged = leader.count("a")
        let impatient = try field.worker(["once", "2", "timeout=50000"], "impatient")
        try impatient.waitForEnd(seconds: Self.patience)
        #expect(impatient.status == 0 && impatient.said.contains("b") && impatient.count("a") == 0)
        let reader = try field.worker(["pin"], "reader")
        try reader.waitFor("p")
        let patient = try field.worker(["increment", "3", "times=5"], "patient")
        leader.signal(SIGKILL)
        _ = leader.wait()
        try patient.waitForEnd(seconds: Self.patience)
        #expect(patient.status == 0 && patient.count("a") == 5, "\(patient.errors)")
        field.stop()
        try reader.waitForEnd(seconds: Self.patience)
        #expect(reader.status == 0, "\(reader.errors)")
        try field.check([0, acknowledged, 0, 5, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0])
    }
}
