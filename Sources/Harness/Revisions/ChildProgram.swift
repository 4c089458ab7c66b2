import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An interrupt came during work that leaves nothing half done.
package struct WorkInterrupted: Error {
    package init() {}
}

/// A program from the path, such as git or the compiler, that runs to its end in a process group of its own: an
/// interrupt of this process ends it and its children.
package struct ChildProgram {
    package var words: [String]
    /// Receives standard output.
    package var outputFile: String
    /// Receives standard error; nil: the same file.
    package var errorFile: String?

    /// All of it; nil for this process's without what git would go by.
    package var environment: [EnvironmentVariable]?

    package init(_ words: [String], outputFile: String, errorFile: String? = nil) {
        precondition(!words.isEmpty)
        self.words = words
        self.outputFile = outputFile
        self.errorFile = errorFile
    }

    /// Git takes its repository from these variables rather than from the directory: they are set inside a hook.
    private static let unwanted = ["GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_PREFIX="]
    private static let secondsToEnd: UInt64 = 5

    /// Throws: `WorkInterrupted`; `HarnessError` where it cannot be started.
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
