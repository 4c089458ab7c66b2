import CaseFiles
import Commands
import Files
import Harness
import RunRecords

/// `assay replay FILE`: runs the case of a case file again and reports whether it still fails.
struct CaseReplay {
    static let name = "replay"

    private let path: String
    private let read: ReadCaseFile
    private let registries: Registries

    init(path: String, registries: Registries) throws {
        self.path = path
        self.registries = registries
        read = try CaseFileReader.read(path: path)
    }

    /// A path is a case file if it holds no run, and is a file or ends like a case file.
    static func isCaseFile(_ path: String) -> Bool {
        if RunDirectory(path: path).exists { return false }
        return FileTree.exists(path) && !FileTree.isDirectory(path) || path.hasSuffix(CaseFile.ending)
    }

    /// Exit status: 2 if the case failed again, 0 if it passed, 3 if it was inconclusive, 1 if the harness failed.
    func run(times: Int?) throws -> Int32 {
        let file = read.file
        if read.isEdited {
            try Output.line(
                "WARNING  \(path) was edited: its digest is that of another text. Assay runs the edited case")
        }
        if case .program(let program) = file.subject {
            return try CaseProgram(program).run(expecting: file.got)
        }
        return try ComparisonOptions.withScratch { scratch in
            try repeated(CaseFileRunner(registries, scratch: scratch), times)
        }
    }

    private func repeated(_ runner: CaseFileRunner, _ given: Int?) throws -> Int32 {
        let file = read.file
        if let other = runner.otherBuild(file) { try Output.line(other) }
        guard let test = file.test else { return 3 }
        let runnable: Case
        do throws(CaseFileRunner.Undecided) {
            runnable = try runner.runnable(test)
        } catch {
            return try undecidable(error.reason, 3)
        }
        try Output.line(CaseText(file).subjectLine)
        try Output.line("recorded: \(file.got.outcome)\(file.got.detail.isEmpty ? "" : "  \(file.got.detail)")")
        // Without --times the case is repeated until it fails: thread schedules differ from run to run.
        let times = given ?? (file.isFree ? 20 : 1)
        var (same, other, tried) = (0, 0, 0)
        var undecided: String?
        while tried < times {
            let attempt = try runner.run(runnable, fault: file.fault)
            tried += 1
            try say(attempt)
            if attempt.result.verdict == .harnessError { return try undecidable(attempt.undecided ?? "", 1) }
            undecided = attempt.undecided
            if undecided != nil { break }
            if isSame(attempt) { same += 1 } else if !attempt.findings.isEmpty { other += 1 }
            if given == nil, same + other > 0 { break }
        }
        if same + other > 0 { return try failed(same: same, other: other, times: tried) }
        if file.fault?.fault == .crash { return try searched(runner, runnable, tried) }
        if let undecided { return try undecidable(undecided, 3) }
        let moves = file.fault?.fault.damagesFiles == true && runner.otherBuild(file) != nil
        let place = moves ? " at that place of the file, which may hold something else in this build" : ""
        try Output.line("the failure does not happen any more\(place): 0 of \(tried)")
        return 0
    }

    /// Runs all trials of the case. If the case file was edited, or the build is another one, a power loss leaves other
    /// disk states: the recorded trial alone does not show that the failure no longer happens.
    private func searched(_ runner: CaseFileRunner, _ test: Case, _ tried: Int) throws -> Int32 {
        try Output.line("not at that place: assay tries all places of the case")
        let whole = try runner.run(runner.brief(test), fault: nil)
        try say(whole)
        if whole.result.verdict == .harnessError { return try undecidable(whole.undecided ?? "", 1) }
        if isSame(whole) { return try failed(same: 1, other: 0, times: 1) }
        if !whole.findings.isEmpty { return try failed(same: 0, other: 1, times: 1) }
        if let reason = whole.undecided { return try undecidable(reason, 3) }
        try Output.line("the failure does not happen any more: 0 of \(tried), and at no other place of the case")
        return 0
    }

    private func isSame(_ attempt: CaseAttempt) -> Bool {
        attempt.findings.contains { $0.finding.outcome == read.file.got.outcome }
    }

    private func failed(same: Int, other: Int, times: Int) throws -> Int32 {
        if same > 0 {
            try Output.line("same outcome: \(same) of \(times)")
        } else {
            try Output.line("another outcome, and wrong as well: \(other) of \(times)")
        }
        return 2
    }

    private func undecidable(_ reason: String, _ status: Int32) throws -> Int32 {
        try Output.line("CANNOT BE DECIDED  \(reason)")
        return status
    }

    private func say(_ attempt: CaseAttempt) throws {
        if attempt.undecided != nil { return }
        guard !attempt.findings.isEmpty else { return try Output.line("now: correct") }
        for (finding, address) in attempt.findings.prefix(3) {
            let cause = finding.outcome == read.file.got.outcome && !finding.isSame(as: read.file.got)
            try Output.line(
                "now: \(finding.outcome)\(cause ? ", by another cause" : "")  \(address)"
                    + (finding.detail.isEmpty ? "" : "  \(finding.detail)"))
        }
    }
}

/// Runs the recorded command of a program's case again, for the recorded trial only.
struct CaseProgram {
    private let program: ProgramCase

    init(_ program: ProgramCase) { self.program = program }

    /// The exit status of the command is the answer: 2 if it failed again.
    func run(expecting finding: CaseFile.Finding) throws -> Int32 {
        let words = program.replayArguments
        try Output.line((["assay"] + words).map(ShellWord.quoted).joined(separator: " "))
        try Output.line("recorded: \(finding.outcome)\(finding.detail.isEmpty ? "" : "  \(finding.detail)")")
        let status = TrialOptions.$commandLine.withValue(words) { AssayMain.program.status(words) }
        switch status {
        case 0: try Output.line("the failure does not happen any more")
        case 2: try Output.line("same outcome")
        default: try Output.line("CANNOT BE DECIDED  assay \(words[0]) ended with status \(status)")
        }
        return [0, 1, 2].contains(status) ? status : 3
    }
}
