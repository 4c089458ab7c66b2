import Files
import Harness
import Platform
import RunRecords

/// The child that a writing process forks during its work. The child's results are in files, because the process of the
/// trial is the parent of the writer only.
///
/// Its closures run in the writer and in the child; `wait` and the results are for the process of the trial.
final class ForkedTwin {
    private static let commits = 20
    private static let seconds = 8.0

    private let context: CaseContext
    private let location: DatabaseLocation
    private let cell: CellPlace
    private let way: ForkWay
    private let count: Int
    private let directory: String
    /// Used in the writer.
    private var processID: Int32 = 0

    private var forkedFile: String { directory + "/forked" }
    private var acknowledgedFile: String { directory + "/acknowledged" }
    /// The file that says how the child ended: an outcome, a space and the detail.
    private var endFile: String { directory + "/end" }

    /// `count`: the writer's acknowledgement after which it forks.
    init(_ trial: IncrementTrial, _ way: ForkWay, after count: Int) throws {
        context = trial.context
        location = trial.location
        cell = trial.cell
        self.way = way
        self.count = count
        directory = trial.context.trialDirectory + "/twin"
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
    }

    // MARK: In the writer

    func writerAcknowledged(_ number: Int) throws {
        if number == count { return try start() }
        if processID > 0 { try look() }
        // The child gets its turns: an engine whose writers wait by polling, as SQLite's do, would find the lock taken
        // for seconds by a writer that never pauses, on a busy machine.
        if processID > 0, way == .beside { usleep(2_000) }
    }

    private func start() throws {
        let parent = getpid()
        let child = fork()
        if child == 0 { live(parent) }
        guard child > 0 else { throw HarnessError("cannot fork: \(systemMessage())") }
        processID = child
        try FileTree.writeText(forkedFile, "")
    }

    /// Checks whether the child has ended, and how.
    private func look() throws {
        var status: Int32 = 0
        guard waitpid(processID, &status, WNOHANG) == processID else { return }
        processID = 0
        switch ChildEnd(waitStatus: status) {
        case .exited(0): try tellEnd("correct ")
        case .exited: if !FileTree.exists(endFile) { try tellEnd("crashed the child ended by itself") }
        case .signalled(let signal): try tellEnd("crashed signal \(signal) in the child")
        }
    }

    private func tellEnd(_ words: String) throws { try FileTree.replaceText(endFile, words) }

    // MARK: In the child

    private func live(_ parent: Int32) -> Never {
        KernelCalls.dieWithParent(parent)
        switch way {
        case .leave: _exit(0)
        // `exit` is forbidden in the parent only: this is another process.
        case .exit: exit(0)
        case .beside:
            do { try commitBeside() } catch { _exit(1) }
            _exit(0)
        }
    }

    private func commitBeside() throws {
        do {
            let session = try context.open(location, as: (any UpdateSession).self)
            var done = 0
            while done < Self.commits {
                let added = try session.increment(
                    table: cell.table, column: cell.column, key: Int64(cell.row), times: 1, latency: nil)
                if added == 0 { continue }
                done += 1
                try FileTree.append(acknowledgedFile, [1])
            }
            try session.close()
        } catch let error as EngineError {
            try tellEnd("refused the child was refused: \(error)")
            throw error
        }
    }

    // MARK: In the trial

    var hasForked: Bool { FileTree.exists(forkedFile) }

    /// The number of the child's acknowledged commits.
    func acknowledged() throws -> Int { FileTree.exists(acknowledgedFile) ? try FileTree.size(acknowledgedFile) : 0 }

    /// Waits until the child has ended; nil if it ended well. To be called while the writer still runs, which reaps the
    /// child.
    func wait() throws -> (outcome: Outcome, detail: String)? {
        guard hasForked else { return nil }
        let timeout = ProcessTimeout(for: getpid())
        while !FileTree.exists(endFile) {
            if timeout.isOver(seconds: Self.seconds) {
                return (.hung, "the child (\(way.rawValue)) was not done after \(Self.seconds) s")
            }
            usleep(1_000)
        }
        let words = try FileTree.readText(endFile)
        guard let space = words.firstIndex(of: " "), let outcome = Outcome(rawValue: String(words[..<space])) else {
            throw HarnessError("the end of a child cannot be read: \(words)")
        }
        return outcome == .correct ? nil : (outcome, String(words[words.index(after: space)...]))
    }
}
