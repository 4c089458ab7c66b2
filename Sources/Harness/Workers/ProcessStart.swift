#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A child process that leads a process group of its own, so that it and all that it starts can be ended together.
enum ProcessStart {
    #if canImport(Glibc)
        typealias Actions = posix_spawn_file_actions_t
    #else
        typealias Actions = posix_spawn_file_actions_t?
    #endif

    /// - Parameters:
    ///   - words: the program and what it is told; never empty.
    ///   - isOnPath: whether the program is looked for on the path.
    ///   - environment: `NAME=VALUE`, all of it.
    ///   - connect: says what the child's descriptors are.
    /// - Returns: its process id.
    /// - Throws: `HarnessError` where it cannot be started.
    static func run(
        _ words: [String], isOnPath: Bool = false, environment: [String], connect: (inout Actions) -> Void
    ) throws -> pid_t {
        #if canImport(Glibc)
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        connect(&actions)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
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
