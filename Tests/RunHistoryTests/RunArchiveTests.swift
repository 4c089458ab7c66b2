#if SQLite
    import Files
    import Platform
    import RunRecords
    import Seeds
    import Testing

    @testable import RunHistory

    @Suite final class RunArchiveTests {
        private let directory: String
        private var path: String { directory + "/history.sqlite" }

        init() throws {
            var template = Array(("/tmp/assay-history-" + String(repeating: "X", count: 6)).utf8CString)
            try #require(mkdtemp(&template) != nil)
            directory = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        deinit { try? FileTree.remove(directory) }

        private static let machine = Machine(
            host: "bench", system: "Linux", processor: "CPU", coreCount: 2, memoryBytes: 1 << 33, fileSystem: "ext4",
            fsync: .yes, fsyncNanoseconds: 812_000)

        static func test(_ engine: String) -> Case {
            Case(
                scenario: "point-read", family: .workload, engine: engine, dataset: "people", size: 10,
                parameters: [CaseParameter(name: "a'b", value: "é\u{0}\"")], seed: Seed(.max), durability: .full)
        }

        static func run(_ number: Int, id: String? = nil, digest: String? = nil, host: String = "bench") -> RecordedRun
        {
            var header = RunHeader(
                id: id ?? "run-\(number)", plan: "it's; DROP TABLE run", seed: Seed(.max), machine: machine)
            header.machine.host = host
            header.startTime = 1_000 - number
            (header.commit, header.branch) = ("abc\(number)", "main")
            (header.assayVersion, header.buildDigest) = ("0.1", "d")
            let times = Metric("operation_ns", unit: "ns", .lowerIsBetter, .measured)
            let syncs = Metric("file_syncs", unit: "count", .neutral, .deterministic)
            let figures = [
                RecordedFigure(
                    Sample(times, 88.493_164_062_5, statistic: "median", count: 7, label: "read", low: 80, high: 99),
                    ratios: [
                        RecordedRatio(
                            reference: "sqlite", version: "3.40", value: 1.1, low: 1.05, high: 1.2, pairCount: 7),
                        RecordedRatio(reference: "strata-storage", version: "0.1", value: 0.5, pairCount: 1),
                    ]),
                RecordedFigure(Sample(syncs, 0)),
            ]
            return RecordedRun(
                header: header, digest: digest ?? "digest-\(number)",
                cases: [
                    RecordedCase(test: test("strata"), engineVersion: "0.1", verdict: .pass, figures: figures),
                    RecordedCase(test: test("sqlite"), engineVersion: "3.40", verdict: .inconclusive),
                ])
        }

        private func store() throws -> RunArchive { try RunArchive(path: path, creates: true) }

        @Test("runs round-trip, in the order of their start")
        func roundTrip() throws {
            let store = try store()
            #expect(try store.add(Self.run(1)) == .added)
            #expect(try store.add(Self.run(2)) == .added)
            #expect(try store.runs(named: "run-1") == [Self.run(1)])
            #expect(try store.runs(named: "digest-2") == [Self.run(2)])
            #expect(try store.runs(named: "run-").count == 2 && store.runs(named: "other").isEmpty)
            let list = try store.runs()
            #expect(list.map(\.run.id) == ["run-2", "run-1"], "the second began earlier")
            #expect(list.allSatisfy { $0.caseCount == 2 && $0.figureCount == 2 })
        }

        @Test("a figure over the runs, with the ratio to the requested engine")
        func points() throws {
            let store = try store()
            for number in [1, 3, 2] { _ = try store.add(Self.run(number)) }
            let test = Self.test("strata")
            #expect(try store.tests() == [Self.test("sqlite"), test])
            let names = try store.figures(of: test)
            #expect(names.map(\.text) == ["operation_ns median (read)", "file_syncs"])
            #expect(try store.figures(of: Self.test("sqlite")).isEmpty)
            #expect(try store.references(of: test, names[0]).map(\.engine) == ["sqlite", "strata-storage"])
            let points = try store.points(of: test, names[0], reference: "sqlite")
            #expect(points.map(\.run.id) == ["run-3", "run-2", "run-1"])
            #expect(points.allSatisfy { $0.ratio == Self.run(1).cases[0].figures[0].ratios[0] && $0.high == 99 })
            #expect(try store.points(of: test, names[0], reference: nil).allSatisfy { $0.ratio == nil })
            #expect(try store.points(of: test, names[1], reference: "sqlite").map(\.value) == [0, 0, 0])
        }

        @Test("a run is stored once; another run of its name with other results is refused, and changes nothing")
        func twice() throws {
            let store = try store()
            #expect(try store.add(Self.run(1)) == .added)
            #expect(try store.add(Self.run(1)) == .wasThere)
            let error = try #require(throws: ArchiveError.self) {
                try store.add(Self.run(5, id: "run-1", digest: "other"))
            }
            #expect(error.kind == .wrongInput && error.description.contains("other results"))
            #expect(try store.add(Self.run(5, id: "run-1", digest: "other", host: "bench-2")) == .added)
            #expect(try store.runs().map(\.run.machine.host) == ["bench-2", "bench"])
            // An addition that fails in the middle of a run is rolled back.
            var broken = Self.run(7)
            broken.cases.append(broken.cases[0])
            #expect(throws: ArchiveError.self) { try store.add(broken) }
            #expect(try store.runs().count == 2 && store.runs(named: "run-7").isEmpty)
        }

        @Test("a file that is no archive is refused with its kind, and unchanged")
        func foreign() throws {
            let missing = try #require(throws: ArchiveError.self) {
                try RunArchive(path: path, creates: false)
            }
            #expect(missing.description.contains("assay history add RUN") && !FileTree.exists(path))
            try FileTree.writeText(directory + "/text", "id,time\n1,2\n")
            try FileTree.createDirectory(directory + "/folder")
            let other = try ArchiveFile(directory + "/other", creates: true, busyMilliseconds: 0)
            try other.run("CREATE TABLE theirs (a)")
            let later = try ArchiveFile(directory + "/later", creates: true, busyMilliseconds: 0)
            for sql in ["CREATE TABLE run (a)", "PRAGMA user_version=2"] { try later.run(sql) }
            try later.run("PRAGMA application_id=\(ArchiveFile.applicationID)")
            for (name, expected) in [
                ("text", "is no SQLite database"), ("folder", "is no file"), ("other", "of something else"),
                ("later", "has format 2"),
            ] {
                let file = directory + "/" + name
                let before = FileTree.isDirectory(file) ? [] : try FileTree.readBytes(file)
                for creates in [true, false] {
                    let error = try #require(throws: ArchiveError.self) {
                        try RunArchive(path: file, creates: creates)
                    }
                    #expect(error.kind == .wrongInput && error.description.contains(expected), "\(error)")
                }
                let after = FileTree.isDirectory(file) ? [] : try FileTree.readBytes(file)
                #expect(after == before)
            }
        }

        @Test("a damaged archive is reported, and unchanged")
        func damaged() throws {
            let whole = try store()
            for number in 0..<40 { _ = try whole.add(Self.run(number)) }
            let bytes = try FileTree.readBytes(path)
            var zeroed = bytes
            for index in 8_192..<12_288 { zeroed[index] = 0xA5 }
            for (name, content) in [("cut", Array(bytes.prefix(bytes.count / 2))), ("zeroed", zeroed)] {
                let file = directory + "/" + name
                try FileTree.writeBytes(file, content)
                let error = try #require(throws: ArchiveError.self) { try RunArchive(path: file, creates: true) }
                #expect(error.kind == .failure && error.description.contains("is damaged"), "\(name): \(error)")
                #expect(try FileTree.readBytes(file) == content)
            }
        }

        @Test("several writers wait for each other; a writer that cannot wait names the other process")
        func concurrent() async throws {
            let path = path
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        do {
                            let store = try RunArchive(path: path, creates: true)
                            for number in 0..<5 { _ = try store.add(Self.run(writer * 10 + number)) }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
            let store = try RunArchive(path: path, creates: false, busyMilliseconds: 0)
            #expect(try store.runs().count == 20)
            let holder = try ArchiveFile(path, creates: false, busyMilliseconds: 0)
            try holder.run("BEGIN IMMEDIATE")
            let error = try #require(throws: ArchiveError.self) { try store.add(Self.run(99)) }
            #expect(error.kind == .failure && error.description.contains("in use by another process"))
            try holder.run("ROLLBACK")
            #expect(try store.add(Self.run(99)) == .added)
        }
    }
#endif
