/// Two finished runs beside each other: what differs in what repeats exactly, and what two runs cannot tell.
///
/// Times are none of the first. Runs of two moments have no pairs: a machine drifts between them by more than most
/// changes cost, and nobody measured by how much.
package struct RunComparison: Sendable, Equatable {
    /// Something that the one run has and the other has not, or has otherwise.
    package struct Difference: Sendable, Equatable {
        package var test: Case
        /// `verdict`, `file_syncs (whole case)`.
        package var what: String
        package var a: String
        package var b: String

        package init(_ test: Case, _ what: String, _ a: String, _ b: String) {
            (self.test, self.what, self.a, self.b) = (test, what, a, b)
        }
    }

    /// What cannot be compared, and why.
    package struct Undecided: Sendable, Equatable {
        package var test: Case
        package var what: String
        package var reason: String

        package init(_ test: Case, _ what: String, _ reason: String) {
            (self.test, self.what, self.reason) = (test, what, reason)
        }
    }

    /// Of the first run and of the second: directory and header.
    package let directories: (a: String, b: String)
    package let headers: (a: RunHeader, b: RunHeader)
    /// Cases that both have.
    package let common: [Case]
    /// Cases that one lacks.
    package let missing: (inA: [Case], inB: [Case])
    package let differences: [Difference]
    package let undecided: [Undecided]
    /// Facts and counts that are equal.
    package let equalCount: Int
    /// Figures of time in cases of both runs: none of them is compared.
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
            sides.compare(first, second, a.measurements(of: test.id), b.measurements(of: test.id))
        }
        (differences, undecided) = (sides.differences, sides.undecided)
        (equalCount, timedCount) = (sides.equalCount, sides.timedCount)
    }

    /// 2 when anything differs that repeats exactly, or a case is missing; 3 when something could not be decided that
    /// is no time; 0 when all is equal.
    package var exitStatus: Int32 {
        if !differences.isEmpty || !missing.inA.isEmpty || !missing.inB.isEmpty { return 2 }
        return undecided.isEmpty && !common.isEmpty ? 0 : 3
    }

    /// In what the machines of the runs differ, in words; empty for one machine.
    package var machineDifferences: [String] {
        let (a, b) = (headers.a.machine, headers.b.machine)
        let facts: [(String, String, String)] = [
            ("host", a.host, b.host), ("processor", a.processor, b.processor),
            ("cores", "\(a.coreCount)", "\(b.coreCount)"), ("memory", "\(a.memoryBytes)", "\(b.memoryBytes)"),
            ("system", a.system, b.system), ("file system", a.fileSystem, b.fileSystem),
        ]
        return facts.filter { $0.1 != $0.2 }.map { "\($0.0) \($0.1) and \($0.2)" }
    }

    /// Why no time of the one run is set beside one of the other.
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

    /// What else a reader should know: builds and engines that differ.
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

/// Goes through the cases that two runs have in common.
private struct ComparedSides {
    private let fingerprints: (a: Fingerprint, b: Fingerprint)
    var differences: [RunComparison.Difference] = []
    var undecided: [RunComparison.Undecided] = []
    var equalCount = 0
    var timedCount = 0

    init(_ a: Fingerprint, _ b: Fingerprint) {
        fingerprints = (a, b)
    }

    mutating func compare(_ a: CaseResult, _ b: CaseResult, _ measuredA: [CaseResult], _ measuredB: [CaseResult]) {
        fact(a.test, "verdict", a.verdict.rawValue, b.verdict.rawValue)
        fact(a.test, "settings", Self.settings(a), Self.settings(b))
        // A case that was cut got as far as its machine was fast.
        if a.isCut || b.isCut {
            undecided.append(.init(a.test, "counts", "the case was cut by its budget"))
            return
        }
        if a.hasFreeSchedule || b.hasFreeSchedule {
            undecided.append(.init(a.test, "outcomes", "its threads run freely, and come another way each time"))
        } else {
            fact(a.test, "outcomes", Self.outcomes(a), Self.outcomes(b))
        }
        let samples = (a: Self.deterministic(a), b: Self.deterministic(b))
        for name in Set(samples.a.keys).union(samples.b.keys).sorted() {
            fact(a.test, name, samples.a[name].map(Self.text) ?? "none", samples.b[name].map(Self.text) ?? "none")
        }
        counts(a.test, CountedCase(measuredA), CountedCase(measuredB))
        timedCount += a.samples.count { $0.metric.kind == .measured && CountedName($0) == nil }
    }

    private mutating func fact(_ test: Case, _ what: String, _ a: String, _ b: String) {
        if a == b { equalCount += 1 } else { differences.append(.init(test, what, a, b)) }
    }

    private mutating func counts(_ test: Case, _ a: CountedCase?, _ b: CountedCase?) {
        // A verdict that lets no figure count is compared as such.
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
                differences.append(.init(test, name.description, Self.text(first.low), Self.text(second.low)))
            } else {
                undecided.append(.init(test, name.description, Self.doubt(first, second)))
            }
        }
    }

    /// Said of the two runs, where `Fingerprint` speaks of a baseline.
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
