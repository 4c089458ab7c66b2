import JSONText
import RunRecords
import Seeds

/// One failure as one document (`assay-case/1`): what was done, what broke, what was expected and what came. Any build
/// can repeat it, and says where it is another build than the one that met it.
package struct CaseFile: Sendable, Equatable {
    package static let format = "assay-case/1"
    /// How the names of case files end.
    package static let ending = KeptCaseName.ending

    /// Who met the failure.
    package struct Build: Sendable, Equatable {
        package var version: String
        /// Of the program and its libraries; empty where nobody knows.
        package var digest: String
        package var commit: String
        /// Of the engine that failed; empty where there is none of ours.
        package var engineVersion: String

        package init(version: String, digest: String = "", commit: String = "", engineVersion: String = "") {
            self.version = version
            self.digest = digest
            self.commit = commit
            self.engineVersion = engineVersion
        }
    }

    /// What of it is run again.
    package enum Subject: Sendable, Equatable {
        /// A case of a plan, and where it is known the one trial.
        case scenario(Case, fault: FaultAddress?)
        /// A case whose operations are listed one by one: they may be edited, and taken out.
        case history(Case, [HistoryOperation], fault: FaultAddress?)
        /// A command of assay on a program of the user.
        case program(ProgramCase)
    }

    /// What came. Two failures are the same when outcome and cause are.
    package struct Finding: Sendable, Equatable {
        /// The raw value of an `Outcome`; a program's may be a word of its own.
        package var outcome: String
        /// The detail without what differs from trial to trial: `FailureCause.text`.
        package var cause: String
        package var detail: String

        package init(outcome: String, cause: String, detail: String) {
            self.outcome = outcome
            self.cause = cause
            self.detail = detail
        }

        package init(_ cause: FailureCause) {
            self.init(outcome: cause.outcome.rawValue, cause: cause.text, detail: cause.detail)
        }

        package func isSame(as other: Finding) -> Bool { outcome == other.outcome && cause == other.cause }
    }

    /// How often it came again when it was last repeated on purpose.
    package struct Rate: Sendable, Equatable {
        package var same: Int
        package var times: Int

        package init(same: Int, times: Int) {
            self.same = same
            self.times = times
        }
    }

    package var build: Build
    package var subject: Subject
    package var expected: String
    package var got: Finding
    /// Threads ran freely: it may not come again each time.
    package var isFree: Bool
    package var rate: Rate?
    /// What it was minimized from, in a sentence; empty for one as it was met.
    package var origin: String

    package init(
        build: Build, subject: Subject, expected: String, got: Finding, isFree: Bool = false, rate: Rate? = nil,
        origin: String = ""
    ) {
        self.build = build
        self.subject = subject
        self.expected = expected
        self.got = got
        self.isFree = isFree
        self.rate = rate
        self.origin = origin
    }

    /// The parameter of a case by which its operations are given one by one.
    package static let historyParameter = "history"

    /// What a worker runs; nil for a program's.
    package var test: Case? {
        switch subject {
        case .scenario(let test, _): test
        case .history(let test, let operations, _):
            test.setting(Self.historyParameter, to: HistoryOperation.text(of: operations))
        case .program: nil
        }
    }

    package var kind: String {
        switch subject {
        case .scenario: "scenario"
        case .history: "history"
        case .program: "program"
        }
    }

    /// The document that stands in the file.
    package var text: String { CaseDocument(file: self).text }

    package var fault: FaultAddress? {
        switch subject {
        case .scenario(_, let fault), .history(_, _, let fault): fault
        case .program(let program): FaultAddress(text: program.address)
        }
    }
}

/// What a command of assay tried on somebody's program.
package struct ProgramCase: Sendable, Equatable {
    /// The words behind `assay`: `crash`, its options, `--`, the program and its arguments.
    package var arguments: [String]
    /// Of the one trial, as the command's option `--only` takes it.
    package var address: String

    package init(arguments: [String], address: String) {
        self.arguments = arguments
        self.address = address
    }

    /// The command line that repeats the one trial: `--only` stands in front, so that no `--` hides it.
    package var replayArguments: [String] {
        Array(arguments.prefix(1)) + ["--only", address] + arguments.dropFirst()
    }
}

extension Case {
    /// The same with another value of one parameter; an empty one is none.
    package func setting(_ name: String, to value: String) -> Case {
        var list = parameters.filter { $0.name != name }
        list.append(CaseParameter(name: name, value: value))
        return Case(
            scenario: scenario, family: family, engine: engine, dataset: dataset, size: size, parameters: list,
            seed: seed, durability: durability)
    }

    package func leavingOut(_ name: String) -> Case {
        Case(
            scenario: scenario, family: family, engine: engine, dataset: dataset, size: size,
            parameters: parameters.filter { $0.name != name }, seed: seed, durability: durability)
    }
}
