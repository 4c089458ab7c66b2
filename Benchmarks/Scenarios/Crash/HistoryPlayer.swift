import CaseFiles
import Harness
import Measuring
import RunRecords

/// Plays a history on an engine's own files, as a program would that looks at what is there after an error and goes on:
/// reads, opens anew where an error comes again, and gives up when it has seen too many.
struct HistoryPlayer {
    /// Errors after which it gives up.
    static let mostFailures = 3

    private let engine: any Engine
    private let settings: EngineSettings
    private let location: DatabaseLocation
    private let operations: [HistoryOperation]
    private let closes: Bool
    private let tell: (HistoryEvent) throws -> Void
    private var session: (any Session)?
    /// What the program takes to be there.
    private var content = HistoryContent()
    private var failures = 0

    /// `closes`: whether it closes at its end, or leaves the database as a kill would.
    init(
        _ context: CaseContext, at location: DatabaseLocation, _ operations: [HistoryOperation], closes: Bool,
        tell: @escaping (HistoryEvent) throws -> Void
    ) {
        engine = context.engine
        settings = context.settings
        self.location = location
        self.operations = operations
        self.closes = closes
        self.tell = tell
    }

    mutating func play() throws {
        guard try attempt(0, { try $0.create() }) else { return }
        for (place, operation) in operations.enumerated() {
            let step = place + 1
            let isDone: Bool
            switch operation.action {
            case "reopen": isDone = try attempt(step) { try $0.reopen() }
            case "compact":
                guard engine.capabilities.contains(.compaction) else { continue }
                isDone = try attempt(step) { try $0.compact() }
            default:
                guard let change = HistoryChange(operation, before: content) else { continue }
                isDone = try self.change(step, change)
            }
            if !isDone, try !recover() { return }
        }
        guard try look(), closes else { return }
        _ = try attempt(operations.count + 1) { player in
            try player.session?.close()
            player.session = nil
        }
    }

    // MARK: Steps

    private mutating func create() throws {
        try open()
        try HistoryTables.session(session).load(try HistoryTables.schema())
    }

    private mutating func open() throws { session = try engine.open(location, settings: settings) }

    private mutating func reopen() throws {
        let old = session
        session = nil
        try old?.close()
        try open()
    }

    private func compact() throws {
        guard let session = session as? any CompactionSession else {
            throw HarnessError("\(engine.name) declares a compaction that its session has not")
        }
        try session.compact()
    }

    private mutating func change(_ step: Int, _ change: HistoryChange) throws -> Bool {
        guard let session else { return false }
        let witness = settings.durability == .full ? IOWitness.shared : nil
        try tell(.began(step))
        do {
            let mark = witness?.beginCommit()
            try change.perform(on: session)
            var isSynced: Bool?
            if let witness, let mark {
                _ = witness.endCommit(mark)
                let answer = witness.ownCommit()
                if answer != .nothingWritten { isSynced = answer == .synced }
            }
            content = change.applied(to: content)
            try tell(.acknowledged(step, isSynced: isSynced))
            return true
        } catch let error as EngineError {
            return try failed(step, error)
        }
    }

    private mutating func attempt(_ step: Int, _ body: (inout Self) throws -> Void) throws -> Bool {
        try tell(.began(step))
        do {
            try body(&self)
            try tell(.acknowledged(step, isSynced: nil))
            return true
        } catch let error as EngineError {
            return try failed(step, error)
        }
    }

    private mutating func failed(_ step: Int, _ error: EngineError) throws -> Bool {
        failures += 1
        try tell(.failed(step, "\(error)"))
        return false
    }

    // MARK: After an error

    /// Answers whether the program can go on.
    private mutating func recover() throws -> Bool {
        guard failures < Self.mostFailures else {
            _ = try look()
            letGo()
            return false
        }
        if failures == 1, session != nil, try look() { return true }
        letGo()
        do {
            try open()
        } catch let error as EngineError {
            try tell(.sawNothing("\(error)"))
            return false
        }
        return try look()
    }

    /// Nobody asks how it ends.
    private mutating func letGo() {
        do { try session?.close() } catch {}
        session = nil
    }

    /// Reads everything, and takes that to be there; answers whether it could.
    private mutating func look() throws -> Bool {
        guard session != nil else { return false }
        let reading = HistoryReading()
        do {
            try HistoryTables.session(session).readAll(try HistoryTables.schema(), into: reading)
        } catch let error as EngineError {
            try tell(reading.difference.map { .sawWrong($0) } ?? .sawNothing("\(error)"))
            return false
        }
        if let difference = reading.difference {
            try tell(.sawWrong(difference))
            return false
        }
        content = reading.content
        try tell(.saw(content))
        return true
    }
}
