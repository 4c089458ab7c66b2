import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A process that adds 1 to one row of a database, each time in a transaction, and says so when it was acknowledged.
///
/// What several of them did is right when the row holds at least what was acknowledged, and at most one more for each
/// process that was ended or met an error on its way.
final class IncrementProcess {
    private static let table = "DamagePerson"
    private static let column = "age"

    private let child: ForkedChild
    private(set) var acknowledged = 0
    private(set) var end: ChildEnd?

    /// Goes on until the file `stop` is there, then closes the database.
    init(_ context: CaseContext, _ location: DatabaseLocation, stop: String) throws {
        child = try ForkedChild.start { output in
            do {
                let session = try context.open(location, as: (any UpdateSession).self)
                while !FileTree.exists(stop) {
                    let done = try session.increment(
                        table: Self.table, column: Self.column, key: 0, times: 1, latency: nil)
                    if done == 0 { continue }
                    var byte: UInt8 = 1
                    if write(output, &byte, 1) != 1 { return 2 }
                }
                try session.close()
                return 0
            } catch {
                return 1
            }
        }
    }

    func signal(_ number: Int32) { kill(child.processID, number) }

    /// Takes note of what it has said by now.
    /// - Parameter milliseconds: how long to wait for a word.
    /// - Returns: false when it has ended.
    @discardableResult
    func listen(milliseconds: Int32 = 0) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var timeout = milliseconds
        while true {
            var descriptor = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, timeout) <= 0 { return true }
            timeout = 0
            let count = read(child.output, &bytes, bytes.count)
            if count <= 0 { return false }
            acknowledged += count
        }
    }

    /// Waits until it has said so much more.
    /// - Returns: false when it ended, or so many seconds passed, first.
    func hears(_ more: Int, seconds: Int = 10) -> Bool {
        let wanted = acknowledged + more
        for _ in 0..<(seconds * 10) {
            if acknowledged >= wanted { return true }
            if !listen(milliseconds: 100) { break }
        }
        return acknowledged >= wanted
    }

    /// Waits for its end.
    @discardableResult
    func wait() -> ChildEnd {
        while listen(milliseconds: 1000) {}
        let found = child.wait()
        end = found
        return found
    }

    /// Whether it was ended by a signal that nobody sent.
    var crashed: Bool {
        if case .signalled(let number)? = end { return number != SIGKILL }
        return false
    }

    /// Commits that may have happened beyond those that were acknowledged.
    var uncertain: Int { end == .exited(0) ? 0 : 1 }
}

/// One database that several processes use, on a copy of the case's fixture.
struct IncrementTrial {
    let context: CaseContext
    let location: DatabaseLocation
    let initial: Int64

    /// - Parameter files: of the fixture, by name.
    init(_ context: CaseContext, _ files: [(name: String, bytes: [UInt8])]) throws {
        let directory = context.trialDirectory + "/database"
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        for file in files { try FileTree.writeBytes(directory + "/" + file.name, file.bytes) }
        self.context = context
        location = DatabaseLocation(directory: directory)
        try FileTree.remove(context.trialDirectory + "/stop")
        initial = try Self.value(context, location)
    }

    /// The fixture's files but its lock.
    static func files(_ context: CaseContext) throws -> [(name: String, bytes: [UInt8])] {
        let fixture = try context.fixtureLocation()
        return try context.engine.files(at: fixture).filter { $0.role != .lock }.map { file in
            (String(file.path.dropFirst(fixture.directory.count + 1)), try FileTree.readBytes(file.path))
        }
    }

    var stopFile: String { context.trialDirectory + "/stop" }

    func start() throws -> IncrementProcess { try IncrementProcess(context, location, stop: stopFile) }

    func stop() throws { try FileTree.writeText(stopFile, "") }

    /// What the row holds, read in a process of its own.
    static func value(_ context: CaseContext, _ location: DatabaseLocation) throws -> Int64 {
        let child = try ForkedChild.start { output in
            do {
                let session = try context.open(location, as: (any TableSession).self)
                let reads = PointReads(table: "DamagePerson", keys: [0], columns: ["age"])
                let digest = try session.readPoints(reads, latency: nil)
                try session.close()
                var value = digest.sum
                return write(output, &value, 8) == 8 ? 0 : 2
            } catch {
                return 1
            }
        }
        var value: UInt64 = 0
        let count = read(child.output, &value, 8)
        let end = child.wait()
        if case .signalled(let signal) = end { throw HarnessError("the reader ended by signal \(signal)") }
        guard count == 8, end == .exited(0) else { throw EngineError(.refused, "the database could not be read") }
        return Int64(bitPattern: value)
    }

    /// Judges what is there after all processes have ended.
    func judge(_ processes: [IncrementProcess], _ address: FaultAddress) throws -> Trial {
        if let process = processes.first(where: \.crashed), let end = process.end {
            return Trial(address: address, outcome: .crashed, detail: "a process ended so: \(end)")
        }
        let acknowledged = processes.reduce(0) { $0 + $1.acknowledged }
        let attempted = processes.reduce(acknowledged) { $0 + $1.uncertain }
        let final: Int64
        do { final = try Self.value(context, location) } catch let error as EngineError {
            return Trial(address: address, outcome: .refused, detail: "\(error)")
        }
        let (outcome, detail) = CounterHistory.judge(
            initial: initial, acknowledged: Int64(acknowledged), attempted: Int64(attempted), final: final)
        return Trial(address: address, outcome: outcome, detail: detail)
    }
}
