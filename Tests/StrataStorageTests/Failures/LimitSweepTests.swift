import StrataFiles
import Testing

@testable import StrataStorage

#if canImport(Glibc)
    import Platform

    /// Limits of a process, at every value from too little to enough, in force during each step of a store's life:
    /// every refusal is a typed error, no commit is lost, and no thread waits for ever.
    @Suite struct LimitSweepTests {
        enum Step: String, CaseIterable { case open, commit, checkpoint, close }

        /// The expected rows once the limit is lifted.
        private struct Life {
            let step: Step
            let durability: Durability
            /// Whether the step was done with the limit in force.
            var isDone = false
            var failure: StorageError?
            /// Whether the same store completed the refused step without the limit.
            private var isRepeated = false

            private static let rows: Int64 = 60
            private var added: Range<Int64> { 100..<(step == .checkpoint ? 400 : 110) }

            private var options: StoreOptions {
                var options = StoreOptions(durability: durability)
                options.limits = .tiny
                options.logHalfBytes = 16 << 10
                return options
            }

            init(_ step: Step, _ durability: Durability) {
                self.step = step
                self.durability = durability
            }

            /// Whether an error names the refused resource.
            private func isNamed(_ error: StorageError) -> Bool {
                switch error {
                case .file, .noSpace, .limit(.addressSpace), .poisoned, .commitOutcomeUnknown: true
                default: false
                }
            }

            private mutating func under(_ limit: (Bool) -> Void, _ body: () throws -> Void) {
                limit(true)
                defer { limit(false) }
                do {
                    try body()
                    isDone = true
                } catch let error as StorageError {
                    failure = error
                } catch {
                    Issue.record("\(step): \(error)")
                }
            }

            /// - Parameter limit: sets or lifts the limit.
            mutating func run(_ path: String, _ limit: (Bool) -> Void) throws {
                let (options, added) = (self.options, self.added)
                var store: Store? = try Store.open(path: path, options: options)
                if let store {
                    try PlainTable.setUp(store)
                    try PlainTable.insert(store, 0..<Self.rows)
                    // Without a close the log stays, and the next open replays it, as after a crash.
                    if durability == .none { try store.close() }
                }
                store = nil
                if step == .open { under(limit) { store = try Store.open(path: path, options: options) } }
                if store == nil { store = try Store.open(path: path, options: options) }
                let open = try #require(store)
                if step == .commit || step == .checkpoint {
                    under(limit) { try PlainTable.insert(open, added) }
                    if failure?.mayBeTriedAgain == true {
                        try PlainTable.insert(open, added)
                        isRepeated = true
                    }
                }
                if step == .close {
                    try PlainTable.insert(open, added)
                    under(limit) { try open.close() }
                }
                do { try open.close() } catch {
                    #expect(failure != nil, "\(step): a close without a limit throws \(error)")
                }
                store = nil
                try check(path)
            }

            private func check(_ path: String) throws {
                let store = try Store.open(path: path, options: options)
                let keys = try PlainTable.keys(store.snapshot().view)
                let before = Array(0..<Self.rows)
                let after = before + Array(added)
                let name = "\(step), \(durability): \(failure.map { "\($0)" } ?? "done")"
                switch (step, failure) {
                case (.open, _): #expect(keys == before, "\(name)")
                case (.close, let failure?) where durability == .none && !failure.mayBeTriedAgain:
                    // After a failed write or sync the commits of a store without a log are in doubt.
                    #expect(keys == before || keys == after, "\(name)")
                case (.close, _), (_, nil),
                    (_, _) where isRepeated:
                    #expect(keys == after, "\(name)")
                case (_, .poisoned), (_, .commitOutcomeUnknown): #expect(keys == before || keys == after, "\(name)")
                default: #expect(keys == before, "\(name)")
                }
                if let failure { #expect(isNamed(failure), "\(name)") }
                try store.checkInvariants()
                try store.close()
            }
        }

        /// Runs all steps with each of the values; the last one suffices for all.
        /// - Parameter set: sets the limit; nil lifts it.
        private static func sweep(_ values: [UInt64], _ directory: TemporaryDirectory, set: (UInt64?) -> Void) throws {
            // Ends a process that hangs.
            alarm(120)
            var refusals = 0
            for durability in [Durability.full, .none] {
                for step in Step.allCases {
                    for (number, value) in values.enumerated() {
                        let path = directory.path + "/store-\(step)-\(durability)-\(number)"
                        var life = Life(step, durability)
                        try life.run(path) { set($0 ? value : nil) }
                        if !life.isDone { refusals += 1 }
                        if number == values.count - 1 {
                            #expect(
                                life.isDone, "\(step), \(durability), \(value): \(String(describing: life.failure))")
                        }
                    }
                }
            }
            #expect(refusals > 0, "nothing was refused")
        }

        @Test("descriptors") func descriptors() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                let free = UInt64(dup(0))
                close(Int32(free))
                try Self.sweep((0...7).map { free + $0 } + [free + 64], directory) {
                    ProcessLimit.set(RLIMIT_NOFILE, $0)
                }
            }
        }

        @Test("the size of files") func fileSize() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                let values: [UInt64] = [
                    0, 512, 4096, 8192, 9000, 16384, 40_000, 65536, 90_000, 131_072, 200_000, 266_240, 300_000, 400_000,
                    600_000, 1 << 20, 4 << 20, 64 << 20,
                ]
                try Self.sweep(values, directory) { ProcessLimit.set(RLIMIT_FSIZE, $0) }
            }
        }

        @Test("address space") func addressSpace() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                try Self.sweep([4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 2048, 128 << 10].map { $0 << 20 }, directory) {
                    ProcessLimit.setAddressSpace(more: $0)
                }
            }
        }

        @Test("threads", .enabled(if: geteuid() == 0)) func threads() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                chmod(directory.path, 0o777)
                let status = StoreWorkerProcess.text("/proc/self/status")
                let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
                let running = line.flatMap { UInt64($0.drop { !$0.isNumber }) } ?? 1
                try #require(ProcessLimit.becomeUnprivileged())
                alarm(120)
                // Without threads the caller does all the work, so that nothing is refused.
                for more in 0...3 as ClosedRange<UInt64> {
                    for durability in [Durability.full, .none] {
                        for step in Step.allCases {
                            var life = Life(step, durability)
                            try life.run(directory.path + "/store-\(more)-\(durability)-\(step)") {
                                ProcessLimit.setThreads($0 ? running + more : nil)
                            }
                            #expect(life.isDone, "\(step), \(more): \(String(describing: life.failure))")
                        }
                    }
                }
            }
        }
    }
#endif
