import Files
import JSONText
import Measuring
import Platform

/// Starts `EXECUTABLE worker` for one request.
///
/// The worker leads a process group of its own. When the worker has ended, the whole group is killed, so that no child
/// of the worker survives. The worker asks the kernel to kill it when its parent dies, so that a killed run leaves no
/// worker behind. For the kernel the parent is the thread that starts the worker: that thread must live as long as this
/// process.
package struct WorkerProcess: Sendable {
    package let executable: String
    private let program: String
    /// The words before the executable on the command line: those of a program that profiles it.
    private let front: [String]
    private let namesParent: Bool

    /// - Parameters:
    ///   - program: the program that the executable starts, if the executable is a wrapper script: the preloaded
    ///     library was built beside that program.
    ///   - namesParent: whether the worker ends at once if this process is not its parent.
    package init(executable: String, program: String? = nil, front: [String] = [], namesParent: Bool = true) {
        self.executable = executable
        self.namesParent = namesParent
        self.front = front
        self.program = program ?? executable
    }

    /// Starts a worker and waits until it has ended.
    package func run(
        _ request: WorkerRequest, limits: WorkerLimits, variables: [String] = []
    ) throws -> WorkerEnd {
        let worker = try start(request, limits: limits, variables: variables)
        while true {
            RunningWorker.wait(for: [worker])
            if let end = worker.advance() { return end }
        }
    }

    /// Starts a worker. The caller then calls `advance` until it returns the end. If the caller releases the worker
    /// before that, the deinitializer kills the process.
    ///
    /// - Parameters:
    ///   - variables: `NAME=VALUE`, which are added to this process's environment.
    ///   - group: the memory cgroup of the worker, which is removed when the worker has ended.
    package func start(
        _ request: WorkerRequest, limits: WorkerLimits, variables: [String] = [], in group: MemoryGroup? = nil
    ) throws -> RunningWorker {
        let input = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        let startTime = MonotonicClock.now()
        let processID = try spawn(input: input, output: output, errors: errors, variables)
        input.closeRead()
        output.closeWrite()
        errors.closeWrite()
        let worker = RunningWorker(
            processID: processID, output: output, errors: errors, startTime: startTime, limits: limits, group: group)
        try group?.take(processID)
        // The worker may die before it has read everything. That does not kill the runner, since the tool ignores
        // SIGPIPE.
        do {
            try FileTree.writeAll(input.writeEnd, request.json.bytes, path: "the worker's input")
        } catch {
            guard error.code == EPIPE else { throw error }
        }
        input.closeWrite()
        return worker
    }

    private func spawn(input: Pipe, output: Pipe, errors: Pipe, _ variables: [String]) throws -> Int32 {
        let words = front + [executable, "worker"] + (namesParent ? ["--parent", String(getpid())] : [])
        let environment = WorkerEnvironment.variables(
            executable: program, given: variables.map { EnvironmentVariable($0) })
        return try ProcessStart.run(words, environment: environment) { actions in
            posix_spawn_file_actions_adddup2(&actions, input.readEnd, STDIN_FILENO)
            posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, STDERR_FILENO)
            posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(&actions, output.writeEnd, Worker.reportDescriptor)
        }
    }
}
