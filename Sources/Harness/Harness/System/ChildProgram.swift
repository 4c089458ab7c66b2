import Measuring
import Platform

/// Thrown when the user interrupts work that leaves nothing half done.
package struct WorkInterrupted: Error {
    package init() {}
}

/// A program that is found on the path, such as git or the compiler, and runs to its end in a process group of its own.
/// If this process is interrupted, it ends the program and its children.
package struct ChildProgram {
    package var words: [String]
    /// The file that gets standard output.
    package var outputFile: String
    /// The file that gets standard error; nil for the same file.
    package var errorFile: String?

    /// The whole environment of the program; nil for that of this process without `unwanted`.
    package var environment: [EnvironmentVariable]?

    package init(_ words: [String], outputFile: String, errorFile: String? = nil) {
        precondition(!words.isEmpty)
        self.words = words
        self.outputFile = outputFile
        self.errorFile = errorFile
    }

    /// Git prefers these variables to the working directory when it looks for its repository; a git hook has them set.
    private static let unwanted = ["GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_PREFIX="]
    private static let secondsToEnd: UInt64 = 5

    /// Throws: `WorkInterrupted`; `HarnessError` if the program cannot be started.
    package func run() throws -> ChildEnd {
        let environment =
            environment
            ?? WorkerEnvironment.inherited().filter { variable in
                !Self.unwanted.contains { variable.hasPrefix($0) }
            }
        let processID = try ProcessStart.run(words, isOnPath: true, environment: environment) { actions in
            let flags = O_WRONLY | O_CREAT | O_TRUNC
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, outputFile, flags, 0o644)
            if let errorFile {
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errorFile, flags, 0o644)
            } else {
                posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
            }
        }
        return try Self.wait(processID)
    }

    private static func wait(_ processID: Int32) throws -> ChildEnd {
        var status: Int32 = 0
        while true {
            let ended = waitpid(processID, &status, WNOHANG)
            if ended == processID { return ChildEnd(waitStatus: status) }
            if ended < 0, errno != EINTR { throw HarnessError("cannot wait for a program: \(systemMessage())") }
            if Interruption.isRequested {
                end(processID)
                throw WorkInterrupted()
            }
            usleep(10_000)
        }
    }

    private static func end(_ processID: Int32) {
        kill(-processID, SIGTERM)
        let limit = MonotonicClock.now() &+ secondsToEnd * 1_000_000_000
        var status: Int32 = 0
        while waitpid(processID, &status, WNOHANG) == 0 {
            if MonotonicClock.now() > limit { kill(-processID, SIGKILL) }
            usleep(10_000)
        }
    }
}
