import Files
import RunRecords

/// Describes a case file in plain words, for a reader who does not know the format.
package struct CaseText {
    private let file: CaseFile

    package init(_ file: CaseFile) { self.file = file }

    /// One line: `storage-history on strata-storage, seed 1, full durability`.
    package var subjectLine: String {
        guard let test = file.test else {
            if case .program(let program) = file.subject { return "assay " + Self.command(program.arguments) }
            return ""
        }
        var parts = ["\(test.scenario) on \(test.engine)"]
        if !test.dataset.isEmpty { parts.append(test.size > 0 ? "\(test.dataset) of \(test.size) rows" : test.dataset) }
        parts.append("seed \(test.seed)")
        parts.append("durability \(test.durability.rawValue)")
        return parts.joined(separator: ", ")
    }

    private static func command(_ words: [String]) -> String { words.map(ShellWord.quoted).joined(separator: " ") }

    /// The operations, the fault, the expected and the actual result, in this order.
    /// - Parameter words: describes an operation, where its scenario can.
    package func lines(
        path: String, isEdited: Bool, question: String?, words: (ScriptOperation) -> String? = { _ in nil }
    ) -> [String] {
        var lines = ["\(path): a failure, \(file.kind) (\(CaseFile.format))"]
        if isEdited { lines.append("WARNING  it was edited: its digest is that of another text") }
        lines += ["", "What was done"]
        lines += done(question, words).map { "  " + $0 }
        lines += ["", "What broke", "  " + broke, "", "What was expected", "  " + file.expected]
        lines += ["", "What came", "  \(Self.words(file.got.outcome))"]
        if !file.got.detail.isEmpty { lines.append("  \(file.got.detail)") }
        lines += ["", "Met by"]
        lines += metBy.map { "  " + $0 }
        lines += ["", "Again      assay replay \(ShellWord.quoted(path))"]
        if case .program = file.subject { return lines }
        lines.append("Smaller    assay minimize \(ShellWord.quoted(path))")
        return lines
    }

    private func done(_ question: String?, _ words: (ScriptOperation) -> String?) -> [String] {
        var lines = [subjectLine]
        if let question { lines.append("It asks: \(question)") }
        switch file.subject {
        case .scenario(let test, _):
            if !test.parameterText.isEmpty { lines.append("with \(test.parameterText)") }
        case .history(let test, let operations, _):
            let rest = test.leavingOut(CaseFile.historyParameter).parameterText
            if !rest.isEmpty { lines.append("with \(rest)") }
            lines.append("\(operations.count) operation\(operations.count == 1 ? "" : "s"), in this order:")
            lines += operations.map { operation in
                if let text = words(operation) { return "  \(operation.label): \(text)" }
                let numbers = operation.arguments.map(String.init).joined(separator: " ")
                return "  \(operation.label): \(operation.action)\(numbers.isEmpty ? "" : " " + numbers)"
            }
        case .program: break
        }
        return lines
    }

    private var broke: String {
        guard let fault = file.fault, !fault.isWholeCase else { return "nothing was broken on purpose" }
        let words: [FaultKind: String] = [
            .flip: "one bit was inverted", .cut: "a file was cut short", .zero: "a page was overwritten with zeros",
            .swap: "two pages changed places", .age: "a page is as it was in an older copy",
            .misdirect: "a page was overwritten with the contents of another one",
            .kill: "a process was ended by SIGKILL", .stop: "a process was stopped",
            .crash: "power went, and not all that was un-synced had reached the disk",
            .io: "an operation of a file failed", .race: "processes made the database at once",
            .tamper: "a lock file was changed", .replace: "files were replaced or deleted under a process",
            .copy: "files were copied while they were written to", .delete: "files were deleted",
            .limit: "a process had a limit", .full: "the disk was full", .fork: "a process forked",
        ]
        guard let text = words[fault.fault] else { return "nothing was broken on purpose; looked at: \(fault)" }
        return "\(text) (\(fault))"
    }

    private var metBy: [String] {
        var text = "assay \(file.build.version)"
        if !file.build.commit.isEmpty { text += ", commit \(file.build.commit.prefix(7))" }
        if !file.build.digest.isEmpty { text += ", build \(file.build.digest)" }
        if let test = file.test, !file.build.engineVersion.isEmpty {
            text += ", \(test.engine) \(file.build.engineVersion)"
        }
        var lines = [text]
        if file.isFree { lines.append("threads run freely in it: it need not come again each time") }
        if let rate = file.rate { lines.append("repeated on purpose: \(rate.same) of \(rate.times) came out the same") }
        if !file.origin.isEmpty { lines.append(file.origin) }
        return lines
    }

    private static func words(_ outcome: String) -> String {
        let texts: [String: String] = [
            "lost-commit": "acknowledged data is missing, and nothing was said",
            "silently-wrong": "wrong data came back, and nothing was said",
            "detected-at-open": "the database was called damaged when it was opened",
            "detected-at-read": "the database was called damaged when it was read",
            "refused": "an operation was refused",
            "crashed": "the process ended by a signal, or by an exit inside a call",
            "hung": "nothing came for too long", "memory-limit": "it took more memory than it may",
            "over-size": "its files take more room than they may",
            "fell-back": "older or partial data came back, and that was said",
        ]
        return texts[outcome].map { "\(outcome): \($0)" } ?? outcome
    }
}
