import Files
import Harness
import Platform
import RunRecords

/// Opens and reads a database in a process of its own, so that a crash or a hang is an outcome.
enum ForkedReader {
    /// Reads every value and compares it with `expected`; the open cells may hold any value, which the finding lists.
    static func read(
        _ context: CaseContext, at location: DatabaseLocation, expected: ExactOracle, open: [CellPlace] = [],
        seconds: Double = 20
    ) throws -> ContentFinding {
        let (engine, settings) = (context.engine, context.settings)
        return try finding(seconds: seconds) {
            DamageOracle.read(engine: engine, settings: settings, location: location, expected: expected, open: open)
        }
    }

    /// The finding of the body, which runs in a child for at most `seconds`.
    ///
    /// Throws: `HarnessError` where the child ended without an answer, or the body failed for another reason than the
    /// engine.
    static func finding(seconds: Double = 20, _ body: () throws -> ContentFinding) throws -> ContentFinding {
        try finding(of: try start(body), seconds: seconds)
    }

    /// Starts a child that runs the body, and sends its finding when it ends.
    static func start(_ body: () throws -> ContentFinding) throws -> ForkedChild {
        try ForkedChild.start { output in
            let bytes: [UInt8]
            do {
                bytes = encoded(try body())
            } catch let error as EngineError {
                bytes = encoded(ContentFinding(error.outcomeOfRead, "\(error)"))
            } catch {
                bytes = Array("harness\n\n\(error)".utf8)
            }
            do { try FileTree.writeAll(output, bytes, path: "the pipe of a reader") } catch { return 2 }
            return 0
        }
    }

    /// The finding of a child, which may take `seconds` from now on.
    ///
    /// - Parameter said: the bytes that were already received from the child.
    static func finding(
        of child: ForkedChild, seconds: Double = 20, said: [UInt8] = []
    ) throws -> ContentFinding {
        let timeout = ProcessTimeout(for: child.processID)
        var answer = said
        while child.receive(into: &answer, milliseconds: 50) {
            guard timeout.isOver(seconds: seconds) else { continue }
            child.kill()
            child.wait()
            return ContentFinding(.hung, "a reader was not done after \(seconds) s")
        }
        switch child.wait() {
        case .signalled(let signal): return ContentFinding(.crashed, "signal \(signal) when it was opened and read")
        case .exited(let status):
            guard let finding = try decoded(answer) else {
                throw HarnessError("a reader ended with status \(status) and without an answer")
            }
            return finding
        }
    }

    private static func encoded(_ finding: ContentFinding) -> [UInt8] {
        let numbers = finding.numbers.map { $0.map(String.init) ?? "-" }.joined(separator: " ")
        return Array("\(finding.outcome.rawValue)\n\(numbers)\n\(finding.detail)".utf8)
    }

    private static func decoded(_ bytes: [UInt8]) throws -> ContentFinding? {
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3 else { return nil }
        if lines[0] == "harness" { throw HarnessError(String(lines[2])) }
        guard let outcome = Outcome(rawValue: String(lines[0])) else { return nil }
        return ContentFinding(
            outcome, String(lines[2]), numbers: lines[1].split(separator: " ").map { Int64($0) })
    }
}

extension ForkedChild {
    /// Reads from the child, and waits that long for data.
    /// - Returns: false when the child has closed its end.
    func receive(into answer: inout [UInt8], milliseconds: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var timeout = milliseconds
        while true {
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, timeout) <= 0 { return true }
            timeout = 0
            let count = Platform.read(output, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return false }
            answer += bytes[..<count]
        }
    }
}
