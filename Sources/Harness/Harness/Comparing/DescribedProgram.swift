import Files
import JSONText
import Measuring
import Platform
import Seeds

/// A program with its answer to `worker --describe`.
package struct DescribedProgram: Sendable {
    package var path: String
    package var description: WorkerDescription
    /// The revision that it was built from; nil for a program named by its path.
    package var revision: Revision?

    /// The preloaded library that counts its file calls; nil if its build has none.
    package var library: String? { Preload.library(besides: description.program) }

    private static let secondsToAnswer: UInt64 = 60

    /// Asks a program by `worker --describe`.
    ///
    /// - Parameters:
    ///   - scratch: a directory for its answer.
    ///   - engineLibraries: shared libraries from which the program loads engines.
    /// Throws: `HarnessError` if it is not assay, is too old to describe its build, or speaks another protocol than
    /// this program.
    package init(path: String, scratch: String, engineLibraries: [String] = []) throws {
        self.path = path.contains("/") ? path : "./" + path
        guard access(self.path, X_OK) == 0, !FileTree.isDirectory(self.path) else {
            throw HarnessError("\(path) is no program: \(systemMessage())")
        }
        let file = scratch + "/description"
        let libraries = engineLibraries.flatMap { ["--engine-library", $0] }
        let status = try Self.run([self.path, "worker", "--describe"] + libraries, outputFile: file)
        let text = try FileTree.readText(file)
        try FileTree.remove(file)
        guard status == .exited(0) else {
            throw HarnessError(
                "\(path) worker --describe ended with \(status): "
                    + text.prefix(200).split(separator: "\n").joined(separator: "; "))
        }
        do {
            description = try WorkerDescription(document: Array(text.utf8), named: "description")
        } catch {
            throw HarnessError("\(path) does not describe its build as this program wants it: \(error)")
        }
        guard description.protocolVersion == WorkerRequest.protocolVersion else {
            throw HarnessError(
                "\(path) speaks protocol \(description.protocolVersion), this program \(WorkerRequest.protocolVersion)")
        }
    }

    private static func run(_ command: [String], outputFile: String) throws -> ChildEnd {
        var actions = Spawning.blankFileActions
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, outputFile, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        var processID: pid_t = 0
        let status = CommandVector.with(command) { words in
            posix_spawn(&processID, command[0], &actions, nil, words, KernelCalls.environment)
        }
        guard status == 0 else {
            throw HarnessError("cannot start \(command[0]): \(String(cString: strerror(status)))")
        }
        return wait(processID)
    }

    private static func wait(_ processID: Int32) -> ChildEnd {
        let limit = MonotonicClock.now() &+ secondsToAnswer * 1_000_000_000
        var status: Int32 = 0
        while waitpid(processID, &status, WNOHANG) == 0 {
            if MonotonicClock.now() > limit { kill(processID, SIGKILL) }
            usleep(2_000)
        }
        return ChildEnd(waitStatus: status)
    }
}
