import Files
import Harness
import Measuring
import Platform
import RunRecords
import StoreMigration

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The processes of a trial: one writes and may be killed, another one opens the stores that it left.
struct DoubleWriteProcess {
    let place: MigrationPlace
    let trial: DoubleWriteTrial

    /// The calls that change a file: they are counted, and the writing process is killed before one of them.
    static let kinds = [
        "write", "sync", "sync-directory", "truncate", "allocate", "create", "rename", "link", "unlink",
    ]

    /// Makes the runtime look up what it looks up at the first encoding, which each child would otherwise do again.
    static func warm() throws {
        let changes = DoubleWriteTrial.batches.flatMap { $0.map(\.recordChange) }
        let bytes = try JSONEncoder().encode(changes)
        guard try JSONDecoder().decode([RecordChange].self, from: bytes) == changes else {
            throw EngineError(.untold, "a batch differs from what its encoding decodes to")
        }
    }

    // MARK: The one that writes

    /// Runs the writing process until it is killed, or to its end if its calls are counted.
    func write(
        _ witness: IOWitness, seconds: Double, isCounted: Bool = false
    ) throws -> (answers: DoubleWriteAnswers, end: ChildEnd) {
        let child = try ForkedChild.start { output in
            var status: Int32 = 0
            func tell(_ word: DoubleWriteAnswers.Word, _ rest: String = "") {
                let line = Array("\(word.rawValue) \(rest)\n".utf8)
                do { try FileTree.writeAll(output, line, path: "the pipe of a writer") } catch { status = 2 }
            }
            do {
                let writer = try Self.play(place, trial, witness: witness, tell: tell)
                if !isCounted { _ = Self.die() }
                try writer.close()
            } catch {
                tell(.broke, "\(error)")
                return 3
            }
            return status
        }
        let said = try child.text(seconds: seconds)
        return (DoubleWriteAnswers(said, phase: trial.phase), child.wait())
    }

    private static func play(
        _ place: MigrationPlace, _ trial: DoubleWriteTrial, witness: IOWitness,
        tell: (DoubleWriteAnswers.Word, String) -> Void
    ) throws -> DoubleWriter {
        let writer = try place.writer(trial.order) { side, store in
            guard side == trial.failure.side, let fault = trial.failure.fault else { return store }
            return FaultedStore(store, fault)
        }
        guard writer.phase == trial.phase else { throw HarnessError("the stores are in \"\(writer.phase)\"") }
        // Set in this process and not in its parent: trials run at the same time, and each counts its own calls.
        _ = witness.setFault(nil)
        let before = kinds.reduce(0) { $0 + witness.faultCount($1) }
        if let call = trial.call, !witness.setFault("change#\(call),kill-before") {
            throw HarnessError("the preloaded library cannot kill at a call: build it again (make)")
        }
        for (number, batch) in DoubleWriteTrial.batches.enumerated() {
            tell(.begun, "\(number)")
            do {
                switch try writer.write(batch) {
                case .done: tell(.done, "\(number)")
                case .waiting: tell(.waiting, "\(number)")
                }
            } catch let error as MigrationError where error.code == .writeRefused {
                tell(.refused, "\(number)")
            } catch let error as MigrationError where error.code == .writeUnknown {
                tell(.unknown, "\(number)")
            }
        }
        if trial.phase == .new {
            tell(.stepping, "")
            do {
                try writer.enter(.bothNewRead)
                tell(.stepped, "")
            } catch { tell(.stepRefused, "") }
        }
        tell(.counted, "\(kinds.reduce(0) { $0 + witness.faultCount($1) } - before)")
        // A process that dies now leaves the last batch in the outbox, too, and the next process writes all batches
        // again in their order. Only a living writer shows whether it writes a batch that waited over a later one.
        if trial.call == nil, case .refuses = trial.failure.fault { _ = try writer.drain() }
        return writer
    }

    private static func die() -> Int32 { kill(getpid(), SIGKILL) }

    // MARK: The one that looks

    /// Opens the stores that the writing process left, judges them, reconciles them, and writes on.
    func judge(_ answers: DoubleWriteAnswers, seconds: Double) throws -> DoubleWriteFinding {
        let (place, trial) = (place, trial)
        let child = try ForkedChild.start { output in
            let finding: DoubleWriteFinding
            do { finding = try DoubleWriteJudge(place, trial, answers).finding() } catch {
                finding = DoubleWriteFinding(.refused, "\(error)")
            }
            do { try FileTree.writeAll(output, Array(finding.text.utf8), path: "the pipe of a reader") } catch {
                return 2
            }
            return 0
        }
        let said = try child.text(seconds: seconds)
        switch child.wait() {
        case .signalled(let signal):
            return DoubleWriteFinding(.crashed, "signal \(signal) when the stores were opened again")
        case .exited(let status):
            guard let finding = DoubleWriteFinding(text: said) else {
                throw HarnessError("a reader ended with status \(status) and without an answer")
            }
            return finding
        }
    }
}

extension ForkedChild {
    /// All that the child sends. A child that takes longer than `seconds` is killed.
    fileprivate func text(seconds: Double) throws -> String {
        var said: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let limit = MonotonicClock.now() &+ UInt64(seconds * 1e9)
        while true {
            var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, 200) <= 0 {
                if MonotonicClock.now() < limit { continue }
                kill()
                wait()
                throw EngineError(.refused, "a process of the trial was not done after \(seconds) s")
            }
            let count = Platform.read(output, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return String(decoding: said, as: UTF8.self) }
            said += bytes[..<count]
        }
    }
}

/// The result of one trial.
struct DoubleWriteFinding {
    var outcome: Outcome
    var detail: String
    /// Records that differed when the stores were opened again, and those that the reconciler mended.
    var found = 0
    var mended = 0
    /// Records that still differed after the reconciliation.
    var left = 0

    init(_ outcome: Outcome, _ detail: String) {
        self.outcome = outcome
        self.detail = detail
    }

    var text: String { "\(outcome.rawValue)\n\(found) \(mended) \(left)\n\(detail)" }

    init?(text: String) {
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map { String($0) }
        guard lines.count == 3, let outcome = Outcome(rawValue: lines[0]) else { return nil }
        let numbers = lines[1].split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        self.init(outcome, lines[2])
        (found, mended, left) = (numbers[0], numbers[1], numbers[2])
    }
}
