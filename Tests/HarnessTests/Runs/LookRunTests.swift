#if SQLite
    import Files
    import RunRecords
    import Statistics
    import Testing

    @testable import Harness

    /// The looks of a run (evaluations of its comparisons after 6, 12 and 24 rounds), by the real executable.
    @Suite struct LookRunTests {
        private let directory: TestDirectory
        private let most = 12

        init() throws {
            directory = try TestDirectory()
            try FileTree.createDirectory(directory.path + "/plans")
            try FileTree.writeText(
                directory.path + "/plans/looks.json5",
                """
                { engines: ["strata", "sqlite"], rounds: \(most), cases: [
                  { scenario: "lost-update", sizes: 50, parameters: { threads: 2, increments: 10 } },
                  { scenario: "point-read", datasets: "people", sizes: 500, headline: true },
                  { scenario: "commit", datasets: "people", sizes: 50, parameters: { commits: 20 }, headline: true },
                ] }
                """)
        }

        @Test("comparisons are measured to a look, other cases once before the second, and only open ones continue")
        func looks() throws {
            let path = directory.path + "/run"
            let end = try AssayProcess.run(
                ["run", "looks", "--plans", directory.path + "/plans", "--out", path], in: directory)
            #expect(end.status == .exited(0), "\(end.output)")
            let looks = Looks(most: most).rounds
            try #require(looks == [6, 12])
            let run = try RunDirectory(path: path).load()
            let order = try RunDirectory(path: path).readResults().results
            let firstOfSecondLook = order.firstIndex { $0.turn.round >= looks[0] } ?? order.count
            for (place, result) in order.enumerated() where result.test.scenario == "lost-update" {
                #expect(place < firstOfSecondLook && place >= run.header.rounds.count * looks[0])
            }
            #expect(run.header.rounds.count == 4)
            for (id, measured) in run.rounds {
                let rounds = Set(measured.map(\.turn.round))
                #expect(looks.contains(rounds.count) && rounds == Set(0..<rounds.count), "\(id)")
                #expect(run.header.measurementCount(of: id) == measured.count)
                #expect((run.header.endedRounds[id] ?? most) == rounds.count)
            }
            // The announced rounds after the first look are those that ran.
            let goesOn = run.rounds.values.contains { $0.contains { $0.turn.round >= looks[0] } }
            #expect(end.output.contains("after 6 rounds"), "\(end.output)")
            #expect(end.output.contains("go on to 12 rounds") == goesOn, "\(end.output)")
            #expect(end.output.contains("after 12 rounds") == goesOn, "\(end.output)")
        }
    }
#endif
