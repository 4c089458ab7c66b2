#if SQLite
    import Files
    import JSONText
    import RunRecords
    import Seeds

    /// The archive of runs in one SQLite database. Runs are added and never removed.
    ///
    /// 1. A run is added in one transaction, as a whole or not at all.
    /// 2. A run is stored once: copies are recognised by their digest.
    /// 3. A file that is not an archive, has a later format, or is damaged is refused before anything in it is changed.
    ///
    /// It uses the rollback journal instead of WAL: additions are rare, and between them the archive is a single file,
    /// which can be copied, sent, and kept on a network file system.
    package final class RunArchive {
        /// In the database's `user_version`.
        package static let format = 1

        package enum Addition: Sendable, Equatable {
            case added
            /// The archive already had a run with this digest.
            case wasThere
        }

        private let file: ArchiveFile

        /// - Parameters:
        ///   - creates: whether to create an archive if there is none.
        ///   - busyMilliseconds: how long to wait for another process that adds a run.
        package init(path: String, creates: Bool, busyMilliseconds: Int = 60_000) throws(ArchiveError) {
            if creates, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
                do throws(FileTreeError) {
                    try FileTree.createDirectory(String(path[..<slash]))
                } catch {
                    throw ArchiveError(.wrongInput, "\(error): name another file with --db FILE")
                }
            }
            file = try ArchiveFile(path, creates: creates, busyMilliseconds: busyMilliseconds)
            if creates { try begin() }
            try file.transaction(writes: false) { () throws(ArchiveError) in try check() }
        }

        /// Writes the tables into an empty file. If two processes create the same archive, the one that gets the write
        /// lock second finds the tables and writes nothing.
        private func begin() throws(ArchiveError) {
            guard try isEmpty() else { return }
            try file.transaction(writes: true) { () throws(ArchiveError) in
                guard try isEmpty() else { return }
                for table in ArchiveSchema.statements { try file.run(table) }
                try file.run("PRAGMA application_id=\(ArchiveFile.applicationID)")
                try file.run("PRAGMA user_version=\(Self.format)")
            }
        }

        /// Whether the file has no tables and no identification. A database with a version number but no tables belongs
        /// to another application.
        private func isEmpty() throws(ArchiveError) -> Bool {
            for fact in ["SELECT count(*) FROM sqlite_schema", "PRAGMA application_id", "PRAGMA user_version"] {
                if try file.integer(fact) != 0 { return false }
            }
            return true
        }

        private func check() throws(ArchiveError) {
            let path = file.path
            guard try file.integer("PRAGMA application_id") == ArchiveFile.applicationID else {
                throw ArchiveError(
                    .wrongInput,
                    "\(path) is a database of something else, and was left as it is: name another with --db FILE")
            }
            let version = try file.integer("PRAGMA user_version") ?? 0
            guard version == Self.format else {
                throw ArchiveError(
                    .wrongInput,
                    "\(path) has format \(version), this assay reads format \(Self.format): use the assay that wrote "
                        + "it, or begin another archive with --db FILE")
            }
            var complaints: [String] = []
            try file.rows("PRAGMA quick_check(1)") { row throws(ArchiveError) in complaints.append(row.text(0)) }
            guard complaints == ["ok"] else { throw .damaged(path, complaints.first ?? "no answer") }
        }

        // MARK: Adding

        /// - Throws: if a run of that id and host is there with other results; nothing is changed then.
        package func add(_ run: RecordedRun) throws(ArchiveError) -> Addition {
            try file.transaction(writes: true) { () throws(ArchiveError) in
                if try file.integer("SELECT 1 FROM run WHERE digest = ?", .text(run.digest)) != nil { return .wasThere }
                let host = run.machine.host
                if try file.integer("SELECT 1 FROM run WHERE id = ? AND host = ?", .text(run.id), .text(host)) != nil {
                    throw ArchiveError(
                        .wrongInput,
                        "\(run.id) of \(host) is in \(file.path) with other results, and nothing was added: a run that "
                            + "is added does not change")
                }
                try insert(run)
                return .added
            }
        }

        private func insert(_ run: RecordedRun) throws(ArchiveError) {
            try file.run(
                """
                INSERT INTO run (id, digest, host, time, plan, seed, commit_id, branch, assay_version, build_digest, \
                machine) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                .text(run.id), .text(run.digest), .text(run.machine.host), .integer(run.startTime), .text(run.plan),
                .text(run.seed.description), .text(run.commit), .text(run.branch), .text(run.assayVersion),
                .text(run.buildDigest), .text(run.machine.json.text))
            let key = file.lastKey
            for recorded in run.cases { try insert(recorded, of: key) }
        }

        private func insert(_ recorded: RecordedCase, of run: Int) throws(ArchiveError) {
            let id = recorded.test.id
            try file.run(
                "INSERT INTO test (id, description) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", .text(id),
                .text(recorded.test.json.text))
            try file.run(
                """
                INSERT INTO result (run, test, engine_version, verdict) \
                SELECT ?, key, ?, ? FROM test WHERE id = ?
                """,
                .integer(run), .text(recorded.engineVersion), .text(recorded.verdict.rawValue), .text(id))
            let result = file.lastKey
            for figure in recorded.figures {
                let metric = figure.name.metric
                try file.run(
                    """
                    INSERT INTO figure (result, metric, unit, direction, kind, statistic, label, value, low, high, \
                    count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    .integer(result), .text(metric.name), .text(metric.unit), .text(metric.direction.rawValue),
                    .text(metric.kind.rawValue), .text(figure.name.statistic), .text(figure.name.label),
                    .real(figure.value), ColumnValue(figure.low), ColumnValue(figure.high), .integer(figure.count))
                let key = file.lastKey
                for ratio in figure.ratios {
                    try file.run(
                        """
                        INSERT INTO ratio (figure, reference, version, value, low, high, pairs) \
                        VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                        .integer(key), .text(ratio.reference), .text(ratio.version), .real(ratio.value),
                        ColumnValue(ratio.low), ColumnValue(ratio.high), .integer(ratio.pairCount))
                }
            }
        }

        // MARK: Reading

        /// Runs the body in one transaction, so that all its reads see one state of the archive.
        package func reading<Output>(_ body: () throws(ArchiveError) -> Output) throws(ArchiveError) -> Output {
            try file.transaction(writes: false, body)
        }

        /// All runs without their cases, in the order of their start.
        package func runs() throws(ArchiveError) -> [(run: RecordedRun, caseCount: Int, figureCount: Int)] {
            var runs: [(run: RecordedRun, caseCount: Int, figureCount: Int)] = []
            let counts = """
                (SELECT count(*) FROM result WHERE result.run = run.key), \
                (SELECT count(*) FROM figure JOIN result ON figure.result = result.key WHERE result.run = run.key)
                """
            let sql = "SELECT \(ArchiveColumns.run), \(counts) FROM run ORDER BY time, id, digest"
            try file.rows(sql) { row throws(ArchiveError) in
                let next = ArchiveColumns.runCount
                runs.append(
                    (try ArchiveColumns.run(row, file.path), row.integer(next), row.integer(next + 1)))
            }
            return runs
        }

        /// All runs with their cases, in the order of their start.
        package func wholeRuns() throws(ArchiveError) -> [RecordedRun] { try runs(named: "") }

        /// The runs, with their cases, whose id or digest is `id`; if there is none, those whose id or digest begins
        /// with it.
        package func runs(named id: String) throws(ArchiveError) -> [RecordedRun] {
            var found: [(key: Int, run: RecordedRun)] = []
            let sql = """
                SELECT \(ArchiveColumns.run), key FROM run WHERE substr(id, 1, length(?1)) = ?1 \
                OR substr(digest, 1, length(?1)) = ?1 ORDER BY time, id, digest
                """
            try file.rows(sql, [.text(id)]) { row throws(ArchiveError) in
                found.append((row.integer(ArchiveColumns.runCount), try ArchiveColumns.run(row, file.path)))
            }
            let exact = found.filter { $0.run.id == id || $0.run.digest == id }
            var runs: [RecordedRun] = []
            for (key, run) in exact.isEmpty ? found : exact {
                var run = run
                run.cases = try cases(of: key)
                runs.append(run)
            }
            return runs
        }

        private func cases(of run: Int) throws(ArchiveError) -> [RecordedCase] {
            var found: [(key: Int, recorded: RecordedCase)] = []
            let sql = """
                SELECT test.description, result.engine_version, result.verdict, result.key \
                FROM result JOIN test ON result.test = test.key WHERE result.run = ? ORDER BY result.key
                """
            try file.rows(sql, [.integer(run)]) { row throws(ArchiveError) in
                let recorded = RecordedCase(
                    test: try ArchiveColumns.test(row.text(0), file.path), engineVersion: row.text(1),
                    verdict: try row.choice(2, of: Verdict.self))
                found.append((row.integer(3), recorded))
            }
            var cases: [RecordedCase] = []
            for (key, recorded) in found {
                var recorded = recorded
                recorded.figures = try figures(of: key)
                cases.append(recorded)
            }
            return cases
        }

        private func figures(of result: Int) throws(ArchiveError) -> [RecordedFigure] {
            var found: [(key: Int, figure: RecordedFigure)] = []
            try file.rows(
                "SELECT \(ArchiveColumns.figure), key FROM figure WHERE result = ? ORDER BY key", [.integer(result)]
            ) { row throws(ArchiveError) in
                found.append((row.integer(ArchiveColumns.figureCount), try ArchiveColumns.figure(row)))
            }
            var figures: [RecordedFigure] = []
            for (key, figure) in found {
                var figure = figure
                try file.rows(
                    "SELECT \(ArchiveColumns.ratio) FROM ratio WHERE figure = ? ORDER BY reference", [.integer(key)]
                ) { row throws(ArchiveError) in
                    figure.ratios.append(ArchiveColumns.ratio(row, from: 0))
                }
                figures.append(figure)
            }
            return figures
        }

        // MARK: Trends

        /// Every case of any run, by its title.
        package func tests() throws(ArchiveError) -> [Case] {
            var tests: [Case] = []
            try file.rows("SELECT description FROM test ORDER BY key") { row throws(ArchiveError) in
                tests.append(try ArchiveColumns.test(row.text(0), file.path))
            }
            return tests.sorted { ($0.title, $0.id) < ($1.title, $1.id) }
        }

        /// The names of the figures that a case has in any run, in the order in which they were added.
        package func figures(of test: Case) throws(ArchiveError) -> [FigureName] {
            var names: [FigureName] = []
            let sql = """
                SELECT \(ArchiveColumns.figure) FROM figure JOIN result ON figure.result = result.key \
                JOIN test ON result.test = test.key WHERE test.id = ? \
                GROUP BY metric, statistic, label ORDER BY min(figure.key)
                """
            try file.rows(sql, [.text(test.id)]) { row throws(ArchiveError) in
                names.append(try ArchiveColumns.figure(row).name)
            }
            return names
        }

        /// The engines that a figure has a ratio to, with the number of runs, the most frequent first.
        package func references(
            of test: Case, _ name: FigureName
        ) throws(ArchiveError) -> [(engine: String, runCount: Int)] {
            var references: [(engine: String, runCount: Int)] = []
            let sql = """
                SELECT reference, count(*) FROM ratio JOIN figure ON ratio.figure = figure.key \
                JOIN result ON figure.result = result.key JOIN test ON result.test = test.key \
                WHERE test.id = ? AND metric = ? AND statistic = ? AND label = ? \
                GROUP BY reference ORDER BY count(*) DESC, reference
                """
            let values: [ColumnValue] = [
                .text(test.id), .text(name.metric.name), .text(name.statistic), .text(name.label),
            ]
            try file.rows(sql, values) { row throws(ArchiveError) in references.append((row.text(0), row.integer(1))) }
            return references
        }

        /// The figure in every run that has it, in the order of their start.
        ///
        /// - Parameter reference: the engine whose ratio each point carries; nil for none.
        package func points(
            of test: Case, _ name: FigureName, reference: String?
        ) throws(ArchiveError) -> [TrendPoint] {
            var points: [TrendPoint] = []
            let sql = """
                SELECT \(ArchiveColumns.run), engine_version, figure.value, figure.low, figure.high, \
                \(ArchiveColumns.ratio) FROM figure JOIN result ON figure.result = result.key \
                JOIN test ON result.test = test.key JOIN run ON result.run = run.key \
                LEFT JOIN ratio ON ratio.figure = figure.key AND ratio.reference = ? \
                WHERE test.id = ? AND metric = ? AND statistic = ? AND label = ? ORDER BY time, run.id, digest
                """
            let values: [ColumnValue] = [
                reference.map { .text($0) } ?? .null, .text(test.id), .text(name.metric.name), .text(name.statistic),
                .text(name.label),
            ]
            try file.rows(sql, values) { row throws(ArchiveError) in
                let next = ArchiveColumns.runCount
                let ratio = row.text(next + 4).isEmpty ? nil : ArchiveColumns.ratio(row, from: next + 4)
                points.append(
                    TrendPoint(
                        run: try ArchiveColumns.run(row, file.path), engineVersion: row.text(next),
                        value: row.real(next + 1), low: row.optionalReal(next + 2), high: row.optionalReal(next + 3),
                        ratio: ratio))
            }
            return points
        }
    }
#endif
