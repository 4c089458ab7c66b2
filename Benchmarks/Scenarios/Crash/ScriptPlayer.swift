import CaseFiles
import Harness
import Measuring
import RunRecords

/// Plays a script on an engine's own files, as a program that handles errors would. After the first error it reads the
/// state and continues in the same session, after a further one in a new session, and it gives up after too many.
struct ScriptPlayer {
    /// Errors after which it gives up.
    static let mostFailures = 3

    private let engine: any Engine
    private let settings: EngineSettings
    private let location: DatabaseLocation
    private let operations: [ScriptOperation]
    private let fault: ScriptFault
    private let tell: (ScriptEvent) throws -> Void
    private var session: (any Session)?
    /// The rows that the program expects in the database.
    private var content = ScriptContent()
    private var failures = 0
    /// Whether the creation of the table was acknowledged.
    private var isMade = false
    private var lastError = ""
    /// How many operations at the end are kept until the fault is lifted.
    private static let spareCount = 2

    init(
        _ context: CaseContext, at location: DatabaseLocation, _ operations: [ScriptOperation],
        _ fault: ScriptFault, tell: @escaping (ScriptEvent) throws -> Void
    ) {
        engine = context.engine
        settings = context.settings
        self.location = location
        self.operations = operations
        self.fault = fault
        self.tell = tell
    }

    mutating func play() throws {
        let isOpen = try playOperations()
        guard let lift = fault.lift else {
            if isOpen { try end() }
            return
        }
        try lift()
        if try goOn() { try end() }
    }

    /// Returns whether the program can continue.
    private mutating func playOperations() throws -> Bool {
        isMade = try attempt(0) { try $0.create() }
        guard isMade else { return false }
        let count = operations.count - (fault.lift == nil ? 0 : Self.spareCount)
        for (place, operation) in operations.prefix(count).enumerated() {
            let step = place + 1
            let isDone: Bool
            switch operation.action {
            case "reopen": isDone = try attempt(step) { try $0.reopen() }
            case "compact":
                guard engine.capabilities.contains(.compaction) else { continue }
                isDone = try attempt(step) { try $0.compact() }
            default:
                guard let change = ScriptChange(operation, before: content) else { continue }
                isDone = try self.change(step, change)
            }
            if !isDone, try !recover() { return false }
        }
        return true
    }

    private mutating func end() throws {
        guard try look(), fault.closes else { return }
        _ = try attempt(operations.count + 1) { player in
            try player.session?.close()
            player.session = nil
        }
    }

    // MARK: Steps

    private mutating func create() throws {
        try open()
        try ScriptTables.session(session).load(try ScriptTables.schema())
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

    private mutating func change(_ step: Int, _ change: ScriptChange) throws -> Bool {
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
        lastError = "\(error)"
        try tell(.failed(step, "\(error)"))
        return false
    }

    // MARK: After an error

    /// Returns whether the program can continue.
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

    /// After the fault is lifted a transaction must succeed, in the same session or in a new one. Returns whether one
    /// did.
    private mutating func goOn() throws -> Bool {
        if isMade, session != nil, try insertSpare(0) { return true }
        letGo()
        do {
            try open()
        } catch let error as EngineError {
            try tell(.stuck("it does not open: \(error)"))
            return false
        }
        // The table may exist although its creation was not acknowledged.
        if !isMade {
            isMade = try attempt(0) { try ScriptTables.session($0.session).load(try ScriptTables.schema()) }
        }
        if try look(), try insertSpare(1) { return true }
        try tell(.stuck(lastError))
        return false
    }

    private mutating func insertSpare(_ number: Int) throws -> Bool {
        let step = operations.count - Self.spareCount + number + 1
        guard let change = ScriptChange(operations[step - 1], before: content) else {
            throw HarnessError("an operation kept for the end of the script changes nothing")
        }
        return try self.change(step, change)
    }

    /// Closes the session; an error of the close is ignored.
    private mutating func letGo() {
        do { try session?.close() } catch {}
        session = nil
    }

    /// Reads everything, and expects these rows from then on; returns whether the read succeeded.
    private mutating func look() throws -> Bool {
        guard session != nil else { return false }
        let reading = ScriptReading()
        do {
            try ScriptTables.session(session).readAll(try ScriptTables.schema(), into: reading)
        } catch let error as EngineError {
            lastError = "\(error)"
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
