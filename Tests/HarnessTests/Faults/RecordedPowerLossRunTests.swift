#if SQLite && LMDB
    import Files
    import RunRecords
    import Testing

    @testable import Harness

    /// `recorded-power-loss` by the real executable, on engines with known losses.
    @Suite struct RecordedPowerLossRunTests {
        private let directory: TestDirectory
        private var plan: String { directory.path + "/plan.json5" }

        init() throws {
            directory = try TestDirectory()
        }

        private func write(engines: String, durability: String) throws {
            try FileTree.writeText(
                plan,
                """
                { summary: 'p', seed: 1, measures: false, cases: [{
                    scenario: 'recorded-power-loss', engines: \(engines), durability: \(durability),
                    parameters: { operations: 10, keys: 6, states: 5, total: 80 } }] }
                """)
        }

        private func lacking(_ result: CaseResult) throws -> Int {
            let sample = result.samples.first { $0.metric.name == "disks_lacking_acknowledged" }
            return Int(try #require(sample, "\(result.test): \(result.message)").value)
        }

        @Test("full durability loses nothing, and the other classes' losses are found")
        func truths() throws {
            try write(engines: "['sqlite', 'lmdb']", durability: "['full', 'periodic', 'none']")
            let run = directory.path + "/run"
            let end = try AssayProcess.run(["run", plan, "--out", run, "--plans", directory.path], in: directory)
            let results = try RunDirectory(path: run).load().results
            #expect(results.count == 6, "\(end.output)")
            for result in results {
                let lost = try lacking(result)
                let words: Comment = "\(result.test.engine) \(result.test.durability): \(result.message)"
                #expect((lost > 0) == (result.test.durability != .full), words)
                let allowed: Set<Verdict> = result.test.durability == .none ? [.pass, .unpromised] : [.pass]
                #expect(allowed.contains(result.verdict), words)
            }
        }

        #if Zoo
            @Test("a missing sync is a violation, and its address repeats it")
            func withoutSync() throws {
                try write(engines: "'sqlite'", durability: "'full'")
                let shell = try ShellProcess(directory)
                let end = try shell.run(
                    "ASSAY_ZOO_MISTAKE=sync-left-out assay run plan.json5 --out run --plans . ; echo \"ended $?\"")
                #expect(end.output.contains("ended 2"), "\(end.output)")
                let result = try #require(try RunDirectory(path: directory.path + "/run").load().results.first)
                let trial = try #require(result.trials.first { $0.outcome == .lostCommit })
                #expect(trial.address.text.hasPrefix("crash:op=") && trial.detail.contains("power goes"), "\(trial)")
                let replay = "assay replay run \(result.test.id) '\(trial.address)' --times 1; echo \"ended $?\""
                let again = try shell.run("export ASSAY_ZOO_MISTAKE=sync-left-out; \(replay)")
                #expect(again.output.contains("same outcome: 1 of 1\nended 0"), "\(again.output)")
                let sound = try shell.run("unset ASSAY_ZOO_MISTAKE; \(replay)")
                #expect(sound.output.contains("same outcome: 0 of 1\nended 3"), "\(sound.output)")
            }
        #endif
    }
#endif
