import Datasets
import Files
import Harness
import RunRecords

/// Creates the database that a sweep damages, and knows the states that it went through.
///
/// With `keepsOlder` the files are copied before the last session, whose changes make pages of the copy stale:
/// deletions in shape `deleted`, a compaction in shape `compacted`, updates of rows in shape `clean`. There are enough
/// updates that an engine that never overwrites a page in use reuses pages of the copy.
struct DamageFixture {
    /// One-row transactions in the log of shape `log`.
    static let loggedCommits = 20
    /// The directory of the older copy, beside the database's own files.
    static let older = "older"
    /// Transactions that change rows before the copy, and after it.
    private static let updates = (before: 2, after: 3)

    let context: CaseContext
    let shape: DamageShape
    let keepsOlder: Bool

    init(_ context: CaseContext, keepsOlder: Bool) throws {
        self.context = context
        self.keepsOlder = keepsOlder
        shape = try DamageShape(of: context.test)
    }

    static func request(for test: Case, keepsOlder: Bool) -> FixtureRequest {
        let shape = test.parameter("shape") ?? ""
        if keepsOlder { return FixtureRequest(recipe: "older-\(shape)") }
        return shape == DamageShape.clean.rawValue ? FixtureRequest() : FixtureRequest(recipe: shape)
    }

    // MARK: Making it

    func build(at location: DatabaseLocation) throws {
        // A run of the case reports why the shape cannot be made.
        if shape.reasonToDecline(context.engine) != nil { return }
        if shape == .log { return try buildLog(at: location) }
        let loading = try context.open(location, as: (any TableSession).self)
        try loading.load(try context.tables())
        try loading.close()
        switch shape {
        case .clean where keepsOlder:
            try update(0..<Self.updates.before, location)
            try keep(location, at: location)
            try update(Self.updates.before..<(Self.updates.before + Self.updates.after), location)
        case .clean, .log: return
        case .deleted:
            if keepsOlder { try keep(location, at: location) }
            try deleteHalf(location)
        case .compacted:
            try deleteHalf(location)
            if keepsOlder { try keep(location, at: location) }
            let session = try context.open(location)
            guard let compacting = session as? any CompactionSession else {
                throw HarnessError("\(context.test.engine) declares a compaction that it has not")
            }
            try compacting.compact()
            try session.close()
        }
    }

    private func buildLog(at location: DatabaseLocation) throws {
        let live = try context.emptyLocation("live")
        let loading = try context.open(live, as: (any TableSession).self)
        try loading.load(try context.tables())
        try loading.close()
        let session = try context.open(live, as: (any TableSession).self)
        let early = keepsOlder ? Self.loggedCommits / 2 : 0
        if early > 0 {
            _ = try session.insertEach(try loggedRows(0..<early), latency: nil)
            try keep(live, at: location)
        }
        _ = try session.insertEach(try loggedRows(early..<Self.loggedCommits), latency: nil)
        try copy(live, to: location.directory)
        try session.close()
    }

    private func deleteHalf(_ location: DatabaseLocation) throws {
        var deletion = try halfDeletion()
        let session = try context.open(location, as: (any DeletionSession).self)
        _ = try deletion.runAndClose(session)
    }

    private func halfDeletion() throws -> HalfDeletion {
        try HalfDeletion(try context.tables(), run: HalfDeletion.blockRows)
    }

    private func update(_ numbers: Range<Int>, _ location: DatabaseLocation) throws {
        let session = try context.open(location, as: (any UpdateSession).self)
        let table = try context.tables().main.name
        for number in numbers {
            let (keys, values) = try Self.ages(try context.tables(), number)
            try session.update(table: table, column: "age", keys: keys, values: values)
        }
        try session.close()
    }

    /// The changes of update `number`: every third row gets an age that no row had before.
    private static func ages(_ tables: TableSet, _ number: Int) throws -> (keys: [Int64], values: [Int64]) {
        guard case .integer(let keys)? = tables.main.keyColumn?.values,
            case .integer(let ages)? = tables.main.column("age")?.values
        else { throw HarnessError("\(tables.main.name) has no integer key, or no age") }
        let rows = keys.indices.filter { $0 % 3 == number % 3 }
        return (rows.map { keys[$0] }, rows.map { ages[$0] + Int64(1_000 * (number + 1)) })
    }

    private func keep(_ database: DatabaseLocation, at location: DatabaseLocation) throws {
        let older = location.directory + "/" + Self.older
        try FileTree.createDirectory(older)
        try copy(database, to: older)
    }

    private func copy(_ database: DatabaseLocation, to directory: String) throws {
        for file in context.engine.files(at: database) where file.role != .lock {
            try FileTree.copy(from: file.path, to: directory + "/" + Self.name(of: file.path))
        }
    }

    static func name(of path: String) -> String {
        String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
    }

    // MARK: What stands in it

    /// The rows that shape `log` appends; nil in other shapes.
    func appended() throws -> Table? { shape == .log ? try loggedRows(0..<Self.loggedCommits) : nil }

    private func loggedRows(_ numbers: Range<Int>) throws -> Table {
        let count = try context.tables().main.rowCount
        guard try context.tables().main.name == "DamagePerson" else {
            throw HarnessError("\(context.test.scenario) runs on the data set damage alone")
        }
        return DamageDataset.persons(
            (count + numbers.lowerBound)..<(count + numbers.upperBound), dogCount: count)
    }

    /// Every acknowledged state, the last one last. Not for shape `log`.
    func states() throws -> [ExactOracle] {
        let tables = try context.tables()
        var states = [ExactOracle(tables)]
        switch shape {
        case .clean where keepsOlder:
            for number in 0..<(Self.updates.before + Self.updates.after) {
                let (keys, values) = try Self.ages(tables, number)
                var next = states[number]
                next.update(table: tables.main.name, column: "age", keys: keys, values: values)
                states.append(next)
            }
        case .clean, .log: break
        case .deleted, .compacted: states.append(try halfDeletion().live)
        }
        return states
    }
}
