#if LMDB
    import Datasets
    import Harness
    import PackedRows
    import RunRecords
    import Seeds
    import Testing

    @testable import LMDBEngine
    @testable import Scenarios

    @Suite struct LMDBSessionTests {
        typealias Role = any KeyedRowSession & TableSession & SnapshotSession & CompactionSession & TransactionSession

        private static let reads = PointReads(table: "Person", keys: [7], columns: KeyedContent.rows.columns)

        /// Runs the body with a session on 40 persons, the digest of person 7, and a function that opens another one.
        private func withPersons(
            _ name: String, _ body: (Role, ReadDigest, _ another: () throws -> Role) throws -> Void
        ) throws {
            let set = try PeopleDataset().tables(size: 40, seed: Seed(1))
            try EnginesUnderTest.withDirectory { directory in
                func open() throws -> Role {
                    try EnginesUnderTest.session(try EnginesUnderTest.engine(name), in: directory, as: Role.self)
                }
                let session = try open()
                try session.load(set)
                try body(session, ExactOracle(set).digest(Self.reads), open)
                try session.close()
            }
        }

        @Test(
            "a compaction is refused while its session has a pin or a transaction", arguments: ["lmdb", "lmdb-tuned"])
        func compactionWithPin(name: String) throws {
            try withPersons(name) { session, digest, _ in
                let token = try session.pin()
                #expect(throws: EngineError.self) { try session.compact() }
                #expect(try session.readPinned(token, Self.reads) == digest)
                try session.unpin(token)
                try session.begin(.reading)
                #expect(throws: EngineError.self) { try session.compact() }
                try session.rollback()
                try session.compact()
            }
        }

        @Test("prepared rows are read after a compaction, not after a close", arguments: ["lmdb", "lmdb-tuned"])
        func preparedRows(name: String) throws {
            try withPersons(name) { session, digest, another in
                try session.prepareRows(KeyedContent.rows)
                try session.compact()
                #expect(try session.readRow(7) == digest)
                // It keeps the environment open.
                let other = try another()
                try session.close()
                #expect(throws: EngineError.self) { try session.readRow(7) }
                try other.close()
            }
        }

        @Test(
            "a new row and a second catalogue never replace stored ones",
            arguments: [LMDBEngine.Tuning.asItComes, .tuned])
        func noOverwrite(tuning: LMDBEngine.Tuning) throws {
            let catalogue = try PackedCatalogue(try PeopleDataset().tables(size: 1, seed: Seed(1)))
            try EnginesUnderTest.withDirectory { directory in
                let environment = try LMDBEnvironment(
                    path: directory + "/data", settings: LMDBSettings(durability: .none, tuning: tuning))
                defer { environment.close() }
                let key = KeyBuffer()
                key.set(1, 0)
                func write(_ body: (LMDBTransaction) throws(EngineError) -> Void) throws(EngineError) {
                    try environment.write(body)
                }
                try write { transaction throws(EngineError) in
                    try transaction.create(catalogue)
                    try transaction.insertNew(key, key.bytes)
                    try transaction.put(key, key.bytes)
                }
                #expect(throws: EngineError.self) {
                    try write { transaction throws(EngineError) in try transaction.insertNew(key, key.bytes) }
                }
                #expect(throws: EngineError.self) {
                    try write { transaction throws(EngineError) in try transaction.create(catalogue) }
                }
                try write { transaction throws(EngineError) in
                    try PackedCatalogue.withKey { raw throws(EngineError) in try transaction.put(raw, key.bytes) }
                }
            }
        }
    }
#endif
