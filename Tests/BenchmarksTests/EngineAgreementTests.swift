import Datasets
import Harness
import Measuring
import RunRecords
import Seeds
import Testing

/// All engines agree with the exact oracle on every operation.
@Suite struct EngineAgreementTests {
    typealias Tables = any TableSession

    static func withLoaded(
        _ name: String, _ tables: TableSet, _ body: (_ session: Tables, _ reopen: () throws -> Tables) throws -> Void
    ) throws {
        let engine = try EnginesUnderTest.engine(name)
        try EnginesUnderTest.withDirectory { directory in
            func open() throws -> Tables { try EnginesUnderTest.session(engine, in: directory, as: Tables.self) }
            let session = try open()
            try session.load(tables)
            try session.close()
            let again = try open()
            try body(again, open)
            try again.close()
        }
    }

    static func expectContent(_ session: Tables, _ oracle: ExactOracle) throws {
        let comparison = FullReadComparison(oracle)
        try session.readAll(oracle.schema, into: comparison)
        comparison.finish()
        #expect(comparison.difference == nil)
    }

    static func sets() throws -> [TableSet] {
        [
            try DamageDataset().tables(size: 60, seed: Seed(1)),
            try PeopleDataset(name: "people-dogs", dogsPerPerson: 4).tables(size: 50, seed: Seed(1)),
            try PeopleDataset().tables(size: 50, seed: Seed(1)),
        ]
    }

    static let orders: [(Traversal.Direction, String?)] = [
        (.forward, "age"), (.backward, "age"), (.forward, nil), (.backward, nil),
    ]

    @Test("a full read gives the loaded rows", arguments: EnginesUnderTest.names)
    func readAll(name: String) throws {
        for set in try Self.sets() {
            try Self.withLoaded(name, set) { session, _ in
                try Self.expectContent(session, ExactOracle(set))
                for table in set.tables { #expect(try session.rowCount(table: table.name) == table.rowCount) }
            }
        }
    }

    @Test("a full read stops when the reader asks", arguments: EnginesUnderTest.names)
    func readAllStops(name: String) throws {
        final class First: RowSink {
            var count = 0
            func receive(table: String, row: Int, values: [Value]) -> Bool {
                count += 1
                return count < 3
            }
        }
        let set = try DamageDataset().tables(size: 20, seed: Seed(1))
        try Self.withLoaded(name, set) { session, _ in
            let sink = First()
            try session.readAll(set, into: sink)
            #expect(sink.count == 3)
        }
    }

    @Test("point reads", arguments: EnginesUnderTest.names)
    func readPoints(name: String) throws {
        let set = try DamageDataset().tables(size: 60, seed: Seed(1))
        let oracle = ExactOracle(set)
        try Self.withLoaded(name, set) { session, _ in
            for columns in [["age"], ["name", "score", "age"], ["note"], ["favourite"]] {
                let reads = PointReads(table: "DamagePerson", keys: [59, 0, 7, 7, 31], columns: columns)
                let plain = try session.readPoints(reads, latency: nil)
                #expect(plain == oracle.digest(reads), "\(columns)")
                let latency = LatencyRecorder()
                let timed = try session.readPoints(reads, latency: latency)
                #expect(timed == oracle.digest(reads), "\(columns)")
                #expect(latency.histogram.count == 1)
            }
        }
    }

    @Test("walks along links in both directions", arguments: EnginesUnderTest.names)
    func traverse(name: String) throws {
        guard try EnginesUnderTest.engine(name).capabilities.contains(.links) else { return }
        for set in try Self.sets() {
            let oracle = ExactOracle(set)
            try Self.withLoaded(name, set) { session, _ in
                let links = try #require(session as? any LinkSession)
                for column in set.main.columns {
                    let target: String
                    switch column.values {
                    case .link(let name, _), .links(let name, _): target = name
                    default: continue
                    }
                    for (direction, property) in Self.orders {
                        let count = direction == .forward ? set.main.rowCount : set.table(target)?.rowCount ?? 0
                        let walk = Traversal(
                            table: set.main.name, column: column.name, direction: direction,
                            rows: (0..<Int32(count)).reversed(), property: property)
                        #expect(try links.traverse(walk, latency: nil) == oracle.digest(walk), "\(walk)")
                    }
                }
            }
        }
    }

    @Test("equal texts are counted", arguments: EnginesUnderTest.names)
    func countEqual(name: String) throws {
        let columns = [Column("word", .text(TextColumn(["a", "b", "", "a", "A", "a "])))]
        let set = TableSet(dataset: "words", tables: [Table(name: "Word", key: nil, columns: columns)], digest: 0)
        guard name != "strata" else { return }  // It has classes only for the data sets.
        try Self.withLoaded(name, set) { session, _ in
            let queries = try #require(session as? any QuerySession)
            for (text, count) in [("a", 2), ("", 1), ("A", 1), ("a ", 1), ("c", 0)] {
                #expect(try queries.countEqual(table: "Word", column: "word", text: text) == count, "\(text)")
            }
        }
    }

    @Test("sums, filters and walks over all rows agree, after changes too", arguments: EnginesUnderTest.names)
    func scans(name: String) throws {
        let set = try PeopleDataset().tables(size: 3_000, seed: Seed(1))
        var oracle = ExactOracle(set)
        try Self.withLoaded(name, set) { session, _ in
            let queries = try #require(session as? any QuerySession)
            func expectAgreement() throws {
                let digest = oracle.iterate(table: "Person", column: "age")
                #expect(try queries.sum(table: "Person", column: "age") == Int64(bitPattern: digest.sum))
                #expect(try queries.iterate(table: "Person", column: "age") == digest)
                for (above, below) in [(Int64(50), 30.0), (-1, 1_000), (98, 0.5), (200, 100)] {
                    let filter = TwoColumnFilter(
                        table: "Person", integer: "age", above: above, real: "score", below: below)
                    #expect(try queries.count(filter) == oracle.count(filter), "\(filter)")
                }
            }
            try expectAgreement()
            let keys = (0..<3_000).filter { $0 % 7 == 3 }.map { Int64($0) }
            let values = keys.map { $0 % 300 - 100 }
            try #require(session as? any UpdateSession).update(
                table: "Person", column: "age", keys: keys, values: values)
            oracle.update(table: "Person", column: "age", keys: keys, values: values)
            try expectAgreement()
            let gone = (0..<3_000).filter { $0 % 2 == 1 }.map { Int64($0) }
            try #require(session as? any DeletionSession).delete(table: "Person", keys: gone)
            oracle.delete(table: "Person", keys: gone)
            try expectAgreement()
        }
    }

    @Test("a compacted database keeps its contents, and does not grow", arguments: EnginesUnderTest.names)
    func compaction(name: String) throws {
        guard try EnginesUnderTest.engine(name).capabilities.contains(.compaction) else { return }
        let set = try PeopleDataset().tables(size: 4_000, seed: Seed(1))
        var oracle = ExactOracle(set)
        try Self.withLoaded(name, set) { session, _ in
            let gone = (0..<4_000).filter { $0 % 4 != 1 }.map { Int64($0) }
            try #require(session as? any DeletionSession).delete(table: "Person", keys: gone)
            oracle.delete(table: "Person", keys: gone)
            let before = try session.sizes()
            try #require(session as? any CompactionSession).compact()
            let after = try session.sizes()
            #expect(after.fileBytes + after.logBytes <= before.fileBytes + before.logBytes)
            try Self.expectContent(session, oracle)
        }
    }

    @Test("rows inserted one by one persist across reopening", arguments: EnginesUnderTest.names)
    func insertEach(name: String) throws {
        let set = try DamageDataset().tables(size: 30, seed: Seed(1))
        let more = DamageDataset.persons(30..<40, dogCount: 30)
        try Self.withLoaded(name, set) { session, reopen in
            let latency = LatencyRecorder()
            #expect(try session.insertEach(more, latency: latency) == 10)
            #expect(latency.histogram.count == 10)
            let other = try reopen()
            let reads = PointReads(
                table: "DamagePerson", keys: (30..<40).map { Int64($0) }, columns: ["name", "note", "age", "favourite"])
            let expected = ExactOracle(TableSet(dataset: "", tables: [more], digest: 0)).digest(reads)
            #expect(try other.readPoints(reads, latency: nil) == expected)
            #expect(try other.rowCount(table: "DamagePerson") == 40)
            try other.close()
        }
    }

    @Test("an existing key is refused, and nothing changes", arguments: EnginesUnderTest.names)
    func duplicateKey(name: String) throws {
        let set = try DamageDataset().tables(size: 10, seed: Seed(1))
        try Self.withLoaded(name, set) { session, _ in
            #expect(throws: EngineError.self) {
                _ = try session.insertEach(DamageDataset.persons(3..<4, dogCount: 10), latency: nil)
            }
            try Self.expectContent(session, ExactOracle(set))
        }
    }

    @Test("updates, increments and deletions", arguments: EnginesUnderTest.names)
    func changes(name: String) throws {
        let set = try DamageDataset().tables(size: 40, seed: Seed(1))
        var oracle = ExactOracle(set)
        try Self.withLoaded(name, set) { session, _ in
            let updates = try #require(session as? any UpdateSession)
            try updates.update(table: "DamagePerson", column: "age", keys: [5, 6, 5], values: [-1, Int64.max, 300])
            oracle.update(table: "DamagePerson", column: "age", keys: [5, 6, 5], values: [-1, Int64.max, 300])
            #expect(try updates.increment(table: "DamagePerson", column: "age", key: 7, times: 9, latency: nil) == 9)
            let age = PeopleDataset.age(7) + 9
            oracle.update(table: "DamagePerson", column: "age", keys: [7], values: [age])
            try Self.expectContent(session, oracle)
            let deletions = try #require(session as? any DeletionSession)
            try deletions.delete(table: "DamagePerson", keys: [0, 39, 17])
            oracle.delete(table: "DamagePerson", keys: [0, 39, 17])
            try Self.expectContent(session, oracle)
            #expect(try session.rowCount(table: "DamagePerson") == 37)
        }
    }

    @Test("links to a deleted row are gone", arguments: EnginesUnderTest.names)
    func deletedTarget(name: String) throws {
        guard try EnginesUnderTest.engine(name).capabilities.contains(.links) else { return }
        let set = try DamageDataset().tables(size: 20, seed: Seed(1))
        try Self.withLoaded(name, set) { session, _ in
            let deletions = try #require(session as? any DeletionSession)
            let links = try #require(session as? any LinkSession)
            func backlinks(_ column: String) throws -> Int {
                let walk = Traversal(
                    table: "DamagePerson", column: column, direction: .forward, rows: (0..<20).map { $0 },
                    property: nil)
                return try links.traverse(walk, latency: nil).count
            }
            #expect(try backlinks("favourite") == 20)
            #expect(try backlinks("dogs") == 40)
            try deletions.delete(table: "DamageDog", keys: (0..<20).map { $0 })
            #expect(try backlinks("favourite") == 0)
            #expect(try backlinks("dogs") == 0)
        }
    }

    @Test("a pinned version does not change", arguments: EnginesUnderTest.names)
    func snapshots(name: String) throws {
        let set = try PeopleDataset().tables(size: 30, seed: Seed(1))
        let reads = PointReads(table: "Person", keys: (0..<30).map { Int64($0) }, columns: ["age", "name"])
        var oracle = ExactOracle(set)
        try Self.withLoaded(name, set) { session, reopen in
            let reader = try #require(try reopen() as? any SnapshotSession)
            let updates = try #require(session as? any UpdateSession)
            let first = try reader.pin()
            let firstDigest = oracle.digest(reads)
            oracle.update(table: "Person", column: "age", keys: [1, 2], values: [1_000, 2_000])
            try updates.update(table: "Person", column: "age", keys: [1, 2], values: [1_000, 2_000])
            let second = try reader.pin()
            let secondDigest = oracle.digest(reads)
            try updates.update(table: "Person", column: "age", keys: [2, 3], values: [3_000, 4_000])
            #expect(try reader.readPinned(first, reads) == firstDigest)
            #expect(try reader.readPinned(second, reads) == secondDigest)
            try reader.unpin(first)
            #expect(try reader.readPinned(second, reads) == secondDigest)
            #expect(throws: EngineError.self) { _ = try reader.readPinned(first, reads) }
            try reader.close()
        }
    }

    @Test("held objects return their properties in turn", arguments: EnginesUnderTest.names)
    func heldObjects(name: String) throws {
        let set = try DamageDataset().tables(size: 20, seed: Seed(1))
        let oracle = ExactOracle(set)
        guard try EnginesUnderTest.engine(name).capabilities.contains(.heldObjects) else { return }
        try Self.withLoaded(name, set) { session, _ in
            let held = try #require(session as? any HeldObjectSession)
            try held.hold(table: "DamagePerson", keys: [3, 1, 2])
            for column in ["age", "score", "name", "note", "favourite"] {
                let reads = PointReads(table: "DamagePerson", keys: [3, 1, 2, 3], columns: [column])
                #expect(try held.readHeld(column: column, count: 4, latency: nil) == oracle.digest(reads), "\(column)")
            }
        }
    }

    @Test("a missing table, row or column is an error, not an answer", arguments: EnginesUnderTest.names)
    func missing(name: String) throws {
        let set = try DamageDataset().tables(size: 5, seed: Seed(1))
        try Self.withLoaded(name, set) { session, _ in
            #expect(throws: EngineError.self) { _ = try session.rowCount(table: "Missing") }
            let reads = PointReads(table: "DamagePerson", keys: [0], columns: ["nothing"])
            #expect(throws: EngineError.self) { _ = try session.readPoints(reads, latency: nil) }
        }
    }

    @Test("every engine's capabilities are those of its session", arguments: EnginesUnderTest.names)
    func capabilities(name: String) throws {
        let engine = try EnginesUnderTest.engine(name)
        try EnginesUnderTest.withDirectory { directory in
            let session = try EnginesUnderTest.session(engine, in: directory, as: (any Session).self)
            let has: [(Capability, Bool)] = [
                (.tables, session is any TableSession), (.links, session is any LinkSession),
                (.heldObjects, session is any HeldObjectSession), (.queries, session is any QuerySession),
                (.updates, session is any UpdateSession), (.deletions, session is any DeletionSession),
                (.snapshots, session is any SnapshotSession), (.compaction, session is any CompactionSession),
                (.compactOnLaunch, engine is any CompactOnLaunchEngine),
            ]
            for (capability, isThere) in has {
                #expect(engine.capabilities.contains(capability) == isThere, "\(capability)")
            }
            try session.close()
        }
    }
}
