/// Compares two finished runs by the figures that repeat exactly, and lists what the two runs cannot decide.
///
/// It compares no times, which do not repeat exactly. Two runs have no pairs of measurements made at the same time:
/// between the runs the machine drifts, by an unknown amount that is larger than what most changes cost.
package struct RunComparison: Sendable, Equatable {
    /// A fact that differs between the runs, or that only one of them has.
    package struct Difference: Sendable, Equatable {
        package var test: Case
        /// The name of the fact: `verdict`, `file_syncs (whole case)`.
        package var what: String
        package var a: String
        package var b: String

        package init(_ test: Case, _ what: String, a: String, b: String) {
            (self.test, self.what, self.a, self.b) = (test, what, a, b)
        }
    }

    /// A figure that cannot be compared, with the reason.
    package struct Undecided: Sendable, Equatable {
        package var test: Case
        package var what: String
        package var reason: String

        package init(_ test: Case, _ what: String, _ reason: String) {
            (self.test, self.what, self.reason) = (test, what, reason)
        }
    }

    /// The directory of the first and of the second run; `headers` are their headers.
    package let directories: (a: String, b: String)
    package let headers: (a: RunHeader, b: RunHeader)
    /// The cases that both runs have.
    package let common: [Case]
    /// The cases that one run lacks.
    package let missing: (inA: [Case], inB: [Case])
    package let differences: [Difference]
    package let undecided: [Undecided]
    /// The number of equal facts and counts.
    package let equalCount: Int
    /// The number of times in the common cases, which are not compared.
    package let timedCount: Int

    package static func == (first: RunComparison, second: RunComparison) -> Bool {
        first.common == second.common && first.differences == second.differences
            && first.undecided == second.undecided && first.equalCount == second.equalCount
            && first.timedCount == second.timedCount && first.missing.inA == second.missing.inA
            && first.missing.inB == second.missing.inB
    }

    package init(_ a: Run, _ b: Run) {
        directories = (a.directory, b.directory)
        headers = (a.header, b.header)
        let byID = (
            a: Dictionary(a.results.map { ($0.test.id, $0) }) { first, _ in first },
            b: Dictionary(b.results.map { ($0.test.id, $0) }) { first, _ in first }
        )
        common = a.results.map(\.test).filter { byID.b[$0.id] != nil }
        missing = (
            inA: b.results.map(\.test).filter { byID.a[$0.id] == nil },
            inB: a.results.map(\.test).filter { byID.b[$0.id] == nil }
        )
        var sides = ComparedSides(Fingerprint(a.header), Fingerprint(b.header))
        for test in common {
            guard let first = byID.a[test.id], let second = byID.b[test.id] else { continue }
            sides.compare(first, second, measuredA: a.measurements(of: test.id), measuredB: b.measurements(of: test.id))
        }
        (differences, undecided) = (sides.differences, sides.undecided)
        (equalCount, timedCount) = (sides.equalCount, sides.timedCount)
    }

    /// 2 if a figure that repeats exactly differs, or a run lacks a case; 3 if something other than a time could not be
    /// decided, or the runs have no common case; 0 if everything is equal.
    package var exitStatus: Int32 {
        if !differences.isEmpty || !missing.inA.isEmpty || !missing.inB.isEmpty { return 2 }
        return undecided.isEmpty && !common.isEmpty ? 0 : 3
    }

    /// The differences between the machines of the runs, as text; empty for the same machine.
    package var machineDifferences: [String] {
        let (a, b) = (headers.a.machine, headers.b.machine)
        let facts: [(String, String, String)] = [
            ("host", a.host, b.host), ("processor", a.processor, b.processor),
            ("cores", "\(a.coreCount)", "\(b.coreCount)"), ("memory", "\(a.memoryBytes)", "\(b.memoryBytes)"),
            ("system", a.system, b.system), ("file system", a.fileSystem, b.fileSystem),
        ]
        return facts.filter { $0.1 != $0.2 }.map { "\($0.0) \($0.1) and \($0.2)" }
    }

    /// Why times of the two runs are not compared.
    package var reasonAgainstTimes: String {
        if !machineDifferences.isEmpty {
            return "the runs are of different machines (\(machineDifferences.joined(separator: "; "))): their times "
                + "have nothing in common"
        }
        for header in [headers.a, headers.b] where !header.measures {
            return "plan \(header.plan) measures nothing: its cases run side by side, or too briefly"
        }
        let seconds = abs(headers.a.startTime - headers.b.startTime)
        let apart =
            seconds >= 7_200
            ? "\(seconds / 3_600) hours" : seconds >= 120 ? "\(seconds / 60) minutes" : "\(seconds) seconds"
        return "the runs are \(apart) apart, and have no pairs: a machine drifts between two moments by more than most "
            + "changes cost"
    }

    /// Facts that the reader of a comparison should know: other builds, seeds, plans and versions of engines.
    package var remarks: [String] {
        let (a, b) = headers
        var remarks: [String] = []
        func build(_ header: RunHeader) -> String {
            "\(header.buildDigest.isEmpty ? "unknown" : header.buildDigest)\(header.isReleaseBuild ? "" : " (debug)")"
        }
        if a.buildDigest != b.buildDigest { remarks.append("builds \(build(a)) and \(build(b))") }
        if a.seed != b.seed { remarks.append("seeds \(a.seed) and \(b.seed): cases of other seeds are other cases") }
        if a.plan != b.plan { remarks.append("plans \(a.plan) and \(b.plan)") }
        let versions = Dictionary(b.engines.map { ($0.name, $0.version) }) { first, _ in first }
        for engine in a.engines {
            if let other = versions[engine.name], other != engine.version {
                remarks.append("\(engine.name) \(engine.version) and \(other)")
            }
        }
        return remarks
    }
}

/// Compares the cases that both runs have.
private struct ComparedSides {
    private let fingerprints: (a: Fingerprint, b: Fingerprint)
    var differences: [RunComparison.Difference] = []
    var undecided: [RunComparison.Undecided] = []
    var equalCount = 0
    var timedCount = 0

    init(_ a: Fingerprint, _ b: Fingerprint) {
        fingerprints = (a, b)
    }

    mutating func compare(_ a: CaseResult, _ b: CaseResult, measuredA: [CaseResult], measuredB: [CaseResult]) {
        fact(a.test, "verdict", a: a.verdict.rawValue, b: b.verdict.rawValue)
        fact(a.test, "settings", a: Self.settings(a), b: Self.settings(b))
        // How much a case did before the budget cut it depends on the speed of the machine.
        if a.isCut || b.isCut {
            undecided.append(.init(a.test, "counts", "the case was cut by its budget"))
            return
        }
        if a.hasFreeSchedule || b.hasFreeSchedule {
            undecided.append(.init(a.test, "outcomes", "its threads run freely, and come another way each time"))
        } else {
            fact(a.test, "outcomes", a: Self.outcomes(a), b: Self.outcomes(b))
        }
        let samples = (a: Self.deterministic(a), b: Self.deterministic(b))
        for name in Set(samples.a.keys).union(samples.b.keys).sorted() {
            fact(a.test, name, a: samples.a[name].map(Self.text) ?? "none", b: samples.b[name].map(Self.text) ?? "none")
        }
        counts(a.test, CountedCase(measuredA), CountedCase(measuredB))
        timedCount += a.samples.count { $0.metric.kind == .measured && CountedName($0) == nil }
    }

    private mutating func fact(_ test: Case, _ what: String, a: String, b: String) {
        if a == b { equalCount += 1 } else { differences.append(.init(test, what, a: a, b: b)) }
    }

    private mutating func counts(_ test: Case, _ a: CountedCase?, _ b: CountedCase?) {
        // Figures of a case without a valid verdict are not compared. The verdicts are.
        guard let a, let b else { return }
        for name in Set(a.figures.keys).union(b.figures.keys).sorted() {
            guard let first = a.figures[name], let second = b.figures[name] else {
                let lacking = a.figures[name] == nil ? "first" : "second"
                undecided.append(.init(test, name.description, "the \(lacking) run did not count it"))
                continue
            }
            if let objection = objection(to: name.counter) {
                undecided.append(.init(test, name.description, objection))
            } else if first.low == second.low, first.high == second.high, first.low == first.high {
                equalCount += 1
            } else if first.repeatsExactly, second.repeatsExactly {
                differences.append(.init(test, name.description, a: Self.text(first.low), b: Self.text(second.low)))
            } else {
                undecided.append(.init(test, name.description, Self.doubt(first, second)))
            }
        }
    }

    /// Why two runs are not compared by this counter. `Fingerprint` says it of a run and a baseline.
    private func objection(to counter: Counter) -> String? {
        guard fingerprints.a.objection(to: counter, from: fingerprints.b) != nil else { return nil }
        return fingerprints.a.isReleaseBuild != fingerprints.b.isReleaseBuild
            ? "one run is of a debug build" : "the runs are of different processors"
    }

    private static func doubt(_ a: ObservedRange, _ b: ObservedRange) -> String {
        func words(_ range: ObservedRange) -> String {
            range.low == range.high ? text(range.low) : "\(text(range.low)) to \(text(range.high))"
        }
        let why = a.count > 1 && b.count > 1 ? "it does not repeat" : "counted once, it may not repeat"
        return "\(words(a)) and \(words(b)): \(why)"
    }

    private static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 9e15 ? String(Int(value)) : "\(value)"
    }

    private static func settings(_ result: CaseResult) -> String {
        result.settings.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    private static func outcomes(_ result: CaseResult) -> String {
        let counts = result.outcomes.map { "\($0.count) \($0.outcome.rawValue)" }.joined(separator: ", ")
        return counts.isEmpty ? "none" : counts
    }

    private static func deterministic(_ result: CaseResult) -> [String: Double] {
        let samples = result.samples.filter { $0.metric.kind == .deterministic && CountedName($0) == nil }
        return Dictionary(
            samples.map { ("\($0.metric.name) \($0.statistic)\($0.label.isEmpty ? "" : " (\($0.label))")", $0.value) }
        ) { first, _ in first }
    }
}
