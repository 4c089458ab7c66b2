import Harness
import Measuring
import RunRecords

/// A read by a process that never opened the database before: a step of several scenarios.
enum FreshRead {
    struct Timing {
        var openNanoseconds: UInt64
        var readNanoseconds: UInt64

        var all: UInt64 { openNanoseconds + readNanoseconds }
    }

    /// As the step of a scenario: opens the fixture, reads, closes it, and compares the value, which is a trial of the
    /// step.
    ///
    /// - Parameter read: returns the value to compare.
    static func timed<Role>(
        _ context: CaseContext, as role: Role.Type, expected: UInt64, _ read: (Role) throws -> UInt64
    ) throws -> Timing {
        guard let source = context.source else { throw HarnessError("a read needs a data set") }
        // A program is compiled for its tables: it does not read them from the database.
        context.engine.learn(try source.tables(size: 1, seed: context.seed))
        let location = try context.fixtureLocation()
        try FreshProcess.prepare()
        let start = MonotonicClock.now()
        let opened = try context.open(location)
        let afterOpen = MonotonicClock.now()
        // The first cast of a type to a protocol is slow. It is no work of the engine, and a program that knows its
        // engine does not need it: keep it out of the time.
        guard let session = opened as? Role else { throw HarnessError("the session is no \(role)") }
        let beforeRead = MonotonicClock.now()
        let got = try read(session)
        let end = MonotonicClock.now()
        try opened.close()
        context.report.check("read", expected: expected, got: got)
        return Timing(openNanoseconds: afterOpen - start, readNanoseconds: end - beforeRead)
    }
}

extension CaseContext {
    /// Runs a step; its outcome becomes a trial of the case with the given name.
    ///
    /// - Returns: its figures; nil where its answer was wrong.
    func read(_ step: [String], at location: DatabaseLocation, name: String) throws -> [Sample]? {
        let found = try runStep(step, at: location)
        let outcome = found.outcomes.first { $0.outcome != .correct }?.outcome ?? .correct
        report.add(
            Trial(
                address: FaultAddress(text: name), outcome: outcome, detail: found.trials.first?.detail ?? ""))
        return outcome == .correct ? found.samples : nil
    }
}

/// Reads from files that are not in the page cache. Each read has a process of its own, so that the engine's cache is
/// empty, too.
struct ColdReads {
    /// Measured reads; one more before them loads the program's code.
    private static let count = 15

    let context: CaseContext

    /// Reports the times of one read: of the read alone, after an open that has loaded its own pages, and of both
    /// together.
    static func report(_ timing: FreshRead.Timing, to report: CaseReport) {
        report.add(.operationNanoseconds, Double(timing.readNanoseconds), label: labels[0])
        report.add(.operationNanoseconds, Double(timing.all), label: labels[1])
    }

    private static let labels = ["cold", "cold, with open"]

    /// - Parameter step: by number, the arguments of the process that reads.
    func measure(_ step: (Int) -> [String]) throws {
        let location = try context.fixtureLocation()
        var files = ColdFiles(context, at: location)
        var times: [[Double]] = [[], []]
        for number in 0...Self.count {
            try files.drop()
            let samples = try context.read(step(number), at: location, name: "read \(number)")
            for (place, label) in Self.labels.enumerated() where number > 0 {
                times[place] += samples?.filter { $0.label == label }.map(\.value) ?? []
            }
            if number > 2 && context.isOverBudget {
                context.report.cut()
                break
            }
        }
        files.report()
        for (label, values) in zip(Self.labels, times) where !values.isEmpty {
            context.report.add(
                .operationNanoseconds, values.sorted()[values.count / 2], statistic: "median", count: values.count,
                label: label)
        }
    }
}
