import Platform

/// Starts a child process that leads a process group of its own, so that it and its children can be killed together.
package enum ProcessStart {
    /// What the child leads.
    package enum Leadership: Sendable {
        case group
        /// A session and a group. The first terminal that the child opens becomes its controlling terminal, which hangs
        /// up when the child ends.
        case session

        fileprivate var flags: Int16 {
            switch self {
            case .group: Int16(POSIX_SPAWN_SETPGROUP)
            // POSIX_SPAWN_SETSID, which Swift's Glibc module does not have. A new session has a new group, too.
            #if canImport(Glibc)
                case .session: 0x80
            #else
                case .session: 0x400
            #endif
            }
        }
    }

    /// - Parameters:
    ///   - words: the program and its arguments; never empty.
    ///   - isOnPath: whether to look for the program on the path.
    ///   - environment: the whole environment of the program.
    ///   - leads: what the program leads.
    ///   - connect: sets up the descriptors of the program.
    /// - Returns: its process id.
    /// - Throws: `HarnessError` if it cannot be started.
    package static func run(
        _ words: [String], isOnPath: Bool = false, environment: [EnvironmentVariable], leads: Leadership = .group,
        connect: (inout Spawning.FileActions) -> Void
    ) throws -> pid_t {
        var actions = Spawning.blankFileActions
        var attributes = Spawning.blankAttributes
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        connect(&actions)
        // SIGPIPE is ignored here. A program that starts with it ignored writes into closed pipes for ever.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, leads.flags | Int16(POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setpgroup(&attributes, 0)
        var processID: pid_t = 0
        let start = isOnPath ? posix_spawnp : posix_spawn
        let status = CommandVector.with(words) { arguments in
            CommandVector.with(environment) { start(&processID, words[0], &actions, &attributes, arguments, $0) }
        }
        guard status == 0 else {
            throw HarnessError("cannot start \(words[0]): \(String(cString: strerror(status)))")
        }
        return processID
    }
}
