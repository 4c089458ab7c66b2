import Files
import Harness
import JSONText
import Platform

/// Tests a library by all rules, each in a process of its own: after a crash, which is the finding of one rule, the
/// next rule follows. For a process that has one thread and has not loaded the library.
package struct Conformance {
    private let path: String
    private let directory: String
    private static let secondsPerRule: UInt32 = 30

    /// - Parameters:
    ///   - path: of the library.
    ///   - directory: an existing directory, which is empty afterwards.
    package init(path: String, directory: String) {
        self.path = path
        self.directory = directory
    }

    package static var ruleNames: [String] { ConformanceRule.all.map(\.name) }

    /// Reports the finding of each rule as soon as it exists.
    ///
    /// - Parameter names: of the rules to try; all where it is empty.
    package func run(only names: [String] = [], _ report: (RuleFinding) throws -> Void) throws {
        for rule in ConformanceRule.all where names.isEmpty || names.contains(rule.name) {
            let place = "\(directory)/\(rule.name)"
            try FileTree.createDirectory(place)
            let finding = try run(rule, place)
            try FileTree.remove(place)
            try report(finding)
        }
    }

    private func run(_ rule: ConformanceRule, _ place: String) throws -> RuleFinding {
        let answer = place + ".answer"
        let child = try ForkedChild.start { _ in
            // The exit status that the library causes is reported.
            ExitInsideCall.permit()
            alarm(Self.secondsPerRule)
            Self.silence()
            let finding = Self.finding(rule, path, place)
            do {
                try FileTree.writeText(answer, finding.json.text)
                return 0
            } catch {
                return 1
            }
        }
        let end = child.wait()
        defer { unlink(answer) }
        func failed(_ detail: String) -> RuleFinding {
            RuleFinding(rule: rule.name, sentence: rule.sentence, result: .failed, detail: detail)
        }
        switch end {
        // A library that ends the process in a call leaves no file with an answer, whatever the status is.
        case .exited(0) where FileTree.exists(answer):
            let value = try JSONReader.read(try FileTree.readBytes(answer))
            return try RuleFinding(json: try JSONObjectReader(value, path: "finding"))
        case .signalled(SIGALRM): return failed("it did not end within \(Self.secondsPerRule) seconds")
        case .signalled(let signal): return failed("it ended the process, by signal \(signal)")
        case .exited(let status): return failed("it ended the process, with status \(status)")
        }
    }

    /// Discards what the library prints: it is not for the reader of the findings.
    private static func silence() {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        dup2(descriptor, STDOUT_FILENO)
        close(descriptor)
    }

    private static func finding(_ rule: ConformanceRule, _ path: String, _ place: String) -> RuleFinding {
        var finding = RuleFinding(rule: rule.name, sentence: rule.sentence, result: .ok, detail: "")
        do {
            let library = try EngineLibrary.load(path)
            if let reason = rule.reasonToPass(library.description) {
                finding.result = .notClaimed
                finding.detail = reason
                return finding
            }
            try rule.trial(ConformanceSubject(library, directory: place))
        } catch let error as RuleUntried {
            finding.result = .notTried
            finding.detail = error.description
        } catch let error as EngineError {
            finding.result = .failed
            finding.detail = error.message
        } catch let error as HarnessError {
            finding.result = .notTried
            finding.detail = "\(error)"
        } catch let error as FileTreeError {
            finding.result = .notTried
            finding.detail = "\(error)"
        } catch {
            finding.result = .failed
            finding.detail = "\(error)"
        }
        return finding
    }
}

extension RuleFinding: JSONRecord {
    package static let blank = RuleFinding(rule: "", sentence: "", result: .notTried, detail: "")
    package static let fields: [JSONField<RuleFinding>] = [
        .member("rule", \.rule), .member("sentence", \.sentence), .member("result", \.result),
        .member("detail", \.detail),
    ]
}
