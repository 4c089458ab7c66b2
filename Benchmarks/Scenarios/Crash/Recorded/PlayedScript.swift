import CaseFiles
import Files
import Harness
import Measuring
import Platform
import ProgramTrials

/// A script that a process of its own plays on an engine. It prints a line at the beginning and at the acknowledgement
/// of each transaction, so that the record of its file calls contains these moments.
struct PlayedScript {
    private enum Word {
        static let begun = "begun"
        static let acknowledged = "acknowledged"
        static let syncs = "syncs"
    }

    private let operations: [ScriptOperation]
    /// The content after each number of transactions. The first one creates the table; each operation that changes a
    /// row is one more.
    let contents: [ScriptContent]

    init(_ operations: [ScriptOperation]) {
        self.operations = operations
        var contents = [ScriptContent(), ScriptContent()]
        for operation in operations {
            let content = contents[contents.count - 1]
            guard let change = ScriptChange(operation, before: content) else { continue }
            contents.append(change.applied(to: content))
        }
        self.contents = contents
    }

    private var transactions: Int { contents.count - 1 }

    // MARK: Playing

    /// - Parameter say: receives each line.
    func play(
        _ context: CaseContext, at location: DatabaseLocation, say: (String) throws -> Void = Self.say
    ) throws {
        var number = 0
        func transaction(_ body: () throws -> Void) throws {
            try say("\(Word.begun) \(number)\n")
            try body()
            try say("\(Word.acknowledged) \(number)\n")
            number += 1
        }
        var session: any Session = try context.open(location)
        try transaction { try ScriptTables.create(in: session) }
        for operation in operations {
            switch operation.action {
            case "reopen":
                try session.close()
                session = try context.open(location)
            case "compact":
                // An engine without compaction skips the operation.
                if let compacting = session as? any CompactionSession,
                    context.engine.capabilities.contains(.compaction)
                {
                    try compacting.compact()
                }
            default:
                guard let change = ScriptChange(operation, before: contents[number]) else { continue }
                try transaction { try change.perform(on: session) }
            }
        }
        try session.close()
        if let counts = IOWitness.shared?.counts() {
            // The record shows a write that syncs by itself (O_SYNC) as a write and a sync.
            try say("\(Word.syncs) \(counts.syncCalls + counts.syncedWriteCalls + counts.mapSyncs)\n")
        }
    }

    /// Prints a line, which the recorder sees in order among the file calls.
    static func say(_ line: String) throws {
        try FileTree.writeAll(STDOUT_FILENO, Array(line.utf8), path: "standard output")
    }

    // MARK: Its record

    /// The numbers of recorded operations at the beginning and at the acknowledgement of each transaction.
    ///
    /// Throws: `HarnessError` where the lines are not those of this script, played to its end; `RecordDoubt` where the
    /// record has more syncs than the process counted by itself.
    func marks(in run: TracedRun) throws -> CrashMarks {
        var marks = CrashMarks()
        for words in run.printed {
            for line in String(decoding: words.bytes, as: UTF8.self).split(separator: "\n") {
                if line == "\(Word.begun) \(marks.begun.count)" {
                    marks.begun.append(words.operations)
                } else if line == "\(Word.acknowledged) \(marks.acknowledged.count)",
                    marks.begun.count == marks.acknowledged.count + 1
                {
                    marks.acknowledged.append(words.operations)
                } else if let count = Self.syncs(line) {
                    try compare(syncs: count, run)
                } else {
                    throw HarnessError("a script printed a line that is none of its own: \(line)")
                }
            }
        }
        guard marks.acknowledged.count == transactions, marks.begun.count == transactions else {
            throw HarnessError(
                "a script of \(transactions) transactions told of \(marks.begun.count) that began and "
                    + "\(marks.acknowledged.count) that were acknowledged")
        }
        return marks
    }

    private static func syncs(_ line: Substring) -> Int? {
        guard line.hasPrefix("\(Word.syncs) ") else { return nil }
        return Int(line.dropFirst(Word.syncs.count + 1))
    }

    /// Compares the recorded syncs with those that the process counted. With syncs that it did not make, the record
    /// would let no disk lose anything.
    private func compare(syncs: Int, _ run: TracedRun) throws {
        guard !run.hasWideSync, run.syncCount > syncs else { return }
        throw RecordDoubt("the record has \(run.syncCount) syncs, and the process made \(syncs)")
    }
}

/// The record differs from what the process did.
struct RecordDoubt: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
