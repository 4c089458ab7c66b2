import Harness
import Measuring
import Platform
import RunRecords

/// Times from the call of open to the first value, in a process that never opened the database before.
struct FirstRead {
    let context: CaseContext
    let table: String
    /// An integer column.
    let column: String

    /// Opens the database, reads a value and compares it, as a trial of the case with the given name.
    ///
    /// - Parameter sum: of the digest of the value.
    /// - Returns: nanoseconds; nil if the process got no value, which the trial reports.
    func measure(at location: DatabaseLocation, key: Int64, sum: UInt64, name: String) throws -> UInt64? {
        if context.executable != nil {
            return try measureInProcess(at: location, [table, String(key), column, String(sum)], name)
        }
        let reads = PointReads(table: table, keys: [key], columns: [column])
        let (nanoseconds, got) = try measureInChild(at: location, reads)
        context.report.check(name, expected: sum, got: got)
        return nanoseconds
    }

    /// Measures in a small process that is started for it, as an application is.
    private func measureInProcess(at location: DatabaseLocation, _ step: [String], _ name: String) throws -> UInt64? {
        let samples = try context.read(step, at: location, name: name)
        return samples?.first { $0.metric == .openMicroseconds }.map { UInt64($0.value * 1e3) }
    }

    /// The step of the scenario: the clock runs from the call of open to the value.
    static func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard arguments.count == 4, let key = Int64(arguments[1]), let expected = UInt64(arguments[3]) else {
            throw HarnessError("an open needs a table, a key, a column and what is there")
        }
        let reads = PointReads(table: arguments[0], keys: [key], columns: [arguments[2]])
        let timing = try FreshRead.timed(context, as: (any TableSession).self, expected: expected) {
            try $0.readPoints(reads, latency: nil).sum
        }
        context.report.add(.openMicroseconds, Double(timing.all) / 1e3)
    }

    /// For a case that no worker runs: time and value, measured in a forked child. This process has opened no engine
    /// before.
    private func measureInChild(
        at location: DatabaseLocation, _ reads: PointReads
    ) throws -> (nanoseconds: UInt64, sum: UInt64) {
        let child = try ForkedChild.start { output in
            do {
                let start = MonotonicClock.now()
                let session = try context.open(location, as: (any TableSession).self)
                let digest = try session.readPoints(reads, latency: nil)
                var answer: [UInt64] = [MonotonicClock.now() - start, digest.sum]
                let written = write(output, &answer, 16)
                try session.close()
                return written == 16 ? 0 : 2
            } catch {
                let text = "\(error)\n"
                text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
                return 1
            }
        }
        var answer: [UInt64] = [0, 0]
        let count = Platform.read(child.output, &answer, 16)
        let end = child.wait()
        guard count == 16, end == .exited(0) else { throw HarnessError("a process that opens ended so: \(end)") }
        return (answer[0], answer[1])
    }
}
