import Files
import Harness
import RunRecords
import Strata
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Trials of a program that uses a deleted object, under either policy.
///
/// Each runs in a forked child, because under `.trap` the right result is the end of the process. A child that ended by
/// the signal of a trap with the expected message, in a trial where the policy requires a trap, is `correct`. A trap
/// without that message, or in another trial, stays `crashed`, and so does a child that ended by another signal, such
/// as that of a wild read.
struct PolicyTrials {
    static let parameter = ScenarioParameter(
        "policy", default: "substitute", allowed: ["substitute", "trap"], summary: "Configuration.invalidAccess")

    let context: CaseContext
    let policy: Realm.Configuration.InvalidAccess

    init(_ context: CaseContext) throws {
        self.context = context
        policy = try context.text("policy") == "trap" ? .trap : .substitute
    }

    init(_ context: CaseContext, policy: Realm.Configuration.InvalidAccess) {
        self.context = context
        self.policy = policy
    }

    /// Runs each trial in a child, and reports its outcome.
    ///
    /// - Parameters:
    ///   - trapText: by the name of a trial, the message with which the process must end under `.trap`; nil where it
    ///     must continue.
    ///   - alwaysTrapText: by the name of a trial, the message with which the process must end under either policy.
    func run(
        _ names: [String], trapText: (String) -> String? = { _ in nil },
        alwaysTrapText: (String) -> String? = { _ in nil },
        trial: (_ name: String, _ place: TrialPlace) throws -> Finding
    ) throws {
        let ends = try ends(names) { name, place in
            switch try trial(name, place) {
            case .right: (.correct, "")
            case .wrong(let detail): (.silentlyWrong, detail)
            }
        }
        for (address, end) in ends {
            let name = Self.name(address)
            report(address, end, trapText: alwaysTrapText(name) ?? (policy == .trap ? trapText(name) : nil))
        }
        context.report.add(.trials, Double(ends.count { $0.end != nil }), statistic: "count")
    }

    /// Runs the trials in children, and returns how each ended.
    func ends(
        _ names: [String], _ body: (_ name: String, _ place: TrialPlace) throws -> (Outcome, String)
    ) throws -> [(address: FaultAddress, end: TrialEnd?)] {
        let chosen = context.onlyTrial.map { [$0] } ?? names.map { FaultAddress(text: "access:\($0)") }
        let runner = TrialRunner(
            secondsPerTrial: 5, memoryLimitBytes: 1 << 30, deadline: context.deadline,
            scratchDirectory: context.directory)
        let (policy, context) = (policy, context)
        let ends = try runner.run(chosen) { address, directory in
            let place = TrialPlace(directory: directory, policy: policy)
            let (outcome, detail) = try context.withEngineErrors { try body(Self.name(address), place) }
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        return zip(chosen, ends).map { ($0, $1) }
    }

    enum Finding {
        case right
        case wrong(String)

        static func expect<Value: Equatable>(_ what: String, _ got: Value, _ expected: Value) -> Finding {
            got == expected ? .right : .wrong("\(what): expected \(expected), got \(got)")
        }

        /// Compares lists; the detail names the first difference.
        static func same<Value: Equatable>(_ what: String, _ got: [Value], _ expected: [Value]) -> Finding {
            guard let place = zip(got, expected).enumerated().first(where: { $1.0 != $1.1 })?.offset else {
                if got.count == expected.count { return .right }
                let first = min(got.count, expected.count)
                let text = got.count > first ? "\(got[first]) is too many" : "\(expected[first]) is missing"
                return .wrong("\(what): expected \(expected.count), got \(got.count): \(text)")
            }
            return .wrong("\(what), place \(place): expected \(expected[place]), got \(got[place])")
        }

        /// The first failure.
        static func all(_ findings: [Finding]) -> Finding {
            for case .wrong(let detail) in findings { return .wrong(detail) }
            return .right
        }
    }

    private static func name(_ address: FaultAddress) -> String {
        String(address.text.drop { $0 != ":" }.dropFirst())
    }

    private func report(_ address: FaultAddress, _ end: TrialEnd?, trapText: String?) {
        switch end {
        case .tried(let trial)?:
            context.report.add(trapText.map { Self.judged(trial, trapText: $0) } ?? trial)
        case .broken(let reason)?:
            context.report.addBroken(address, reason)
        case nil:
            context.report.addUntried()
        }
    }

    /// The outcome of a trial in which the process must end with a message. The signal alone proves nothing: a wild
    /// jump ends with the same one.
    static func judged(_ trial: Trial, trapText: String) -> Trial {
        let asked = "expected the process to end with \"\(trapText)\""
        switch trial.outcome {
        case .crashed:
            guard let signal = trial.signal, trapSignals.contains(signal) else { return trial }
            if trial.detail.contains(trapText) { return Trial(address: trial.address, outcome: .correct) }
            return Trial(
                address: trial.address, outcome: .crashed,
                detail: "\(asked), got signal \(signal) with \"\(trial.detail)\"", signal: signal)
        case .correct:
            return Trial(address: trial.address, outcome: .silentlyWrong, detail: "\(asked), and it went on")
        default: return trial
        }
    }

    /// SIGILL, SIGTRAP, SIGABRT: signals of a failed precondition, by processor and build.
    private static let trapSignals: Set<Int32> = [4, 5, 6]
}

extension CaseContext {
    /// Runs the body; an error of Strata's becomes the outcome of the case instead of a failure of the harness.
    func withEngineErrors<Output>(_ body: () throws -> Output) throws -> Output {
        do {
            return try body()
        } catch let error as Realm.Error {
            throw EngineError(error.code == .invalidDatabase ? .damaged : .refused, error.description)
        }
    }
}

/// The environment of a trial: a file of its own, and the reports of its Realm.
final class TrialPlace {
    let policy: Realm.Configuration.InvalidAccess
    private let directory: String
    private let reports = Reports()

    private final class Reports: Sendable {
        let list = Mutex<[String]>([])
    }

    init(directory: String, policy: Realm.Configuration.InvalidAccess) {
        self.directory = directory
        self.policy = policy
    }

    /// Class names of the accesses reported so far.
    var reported: [String] { reports.list.withLock { $0 } }

    func realm(_ classes: [ObjectBase.Type]) throws -> Realm {
        let path = directory + "/trial.strata"
        for path in [path, path + ".log"] { try FileTree.remove(path) }
        let reports = reports
        return try Realm(
            configuration: Realm.Configuration(
                fileURL: URL(fileURLWithPath: path), objectTypes: classes, durability: .none, invalidAccess: policy,
                invalidAccessHandler: { report in reports.list.withLock { $0.append(report.className) } }))
    }
}
