import JSONText
import RunRecords
import Seeds

/// One failure as one document (`assay-case/1`): the operations, the fault, the expected and the actual result. Any
/// build can repeat it, and reports when it is not the build that met the failure.
package struct CaseFile: Sendable, Equatable {
    package static let format = "assay-case/1"
    /// The extension of case files.
    package static let ending = KeptCaseName.ending

    /// The build that met the failure.
    package struct Build: Sendable, Equatable {
        package var version: String
        /// Of the program and its libraries; empty where unknown.
        package var digest: String
        package var commit: String
        /// Of the engine that failed; empty without an engine.
        package var engineVersion: String

        package init(version: String, digest: String = "", commit: String = "", engineVersion: String = "") {
            self.version = version
            self.digest = digest
            self.commit = commit
            self.engineVersion = engineVersion
        }
    }

    /// The part that is repeated.
    package enum Subject: Sendable, Equatable {
        /// A case of a plan, with the trial where it is known.
        case scenario(Case, fault: FaultAddress?)
        /// A case whose operations are listed: they may be edited and removed.
        case history(Case, [ScriptOperation], fault: FaultAddress?)
        /// A command of assay on the user's program.
        case program(ProgramCase)
    }

    /// The result. Two failures are the same when outcome and cause are.
    package struct Finding: Sendable, Equatable {
        /// The raw value of an `Outcome`; that of a program may be another word.
        package var outcome: String
        /// The detail without the parts that differ from trial to trial: `FailureCause.text`.
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

    /// How often it occurred again when it was last repeated.
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
    /// Threads ran freely: it may not occur each time.
    package var isFree: Bool
    package var rate: Rate?
    /// The case that it was minimized from, in a sentence; empty for an original failure.
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

    /// The parameter of a case that lists its operations.
    package static let historyParameter = "history"

    /// The case that a worker runs; nil for a program.
    package var test: Case? {
        switch subject {
        case .scenario(let test, _): test
        case .history(let test, let operations, _):
            test.setting(Self.historyParameter, to: ScriptOperation.text(of: operations))
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

    /// The text of the file.
    package var text: String { CaseDocument(file: self).text }

    package var fault: FaultAddress? {
        switch subject {
        case .scenario(_, let fault), .history(_, _, let fault): fault
        case .program(let program): FaultAddress(text: program.address)
        }
    }
}

/// A trial of the user's program by a command of assay.
package struct ProgramCase: Sendable, Equatable {
    /// The words after `assay`: `crash`, its options, `--`, the program and its arguments.
    package var arguments: [String]
    /// Of the trial, as the command's option `--only` takes it.
    package var address: String

    package init(arguments: [String], address: String) {
        self.arguments = arguments
        self.address = address
    }

    /// The command line that repeats the trial: `--only` comes first, before any `--`.
    package var replayArguments: [String] {
        Array(arguments.prefix(1)) + ["--only", address] + arguments.dropFirst()
    }
}

extension Case {
    /// The same with another value of one parameter; an empty value removes it.
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
