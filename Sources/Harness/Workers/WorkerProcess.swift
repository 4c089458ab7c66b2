import Files
import JSONText
import Measuring
import Platform
import RunRecords

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

    /// Starts a worker. The caller then calls `advance` until it returns the end. To release the worker before that
    /// kills it.
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

/// A pipe. An exec closes its ends, and so does its release.
package final class Pipe {
    package private(set) var readEnd: Int32 = -1
    package private(set) var writeEnd: Int32 = -1

    package init() throws(HarnessError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HarnessError("cannot make a pipe: \(systemMessage())") }
        // Moved above the descriptors that a worker uses.
        readEnd = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
        writeEnd = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
        close(ends[0])
        close(ends[1])
        guard readEnd >= 0, writeEnd >= 0 else {
            throw HarnessError("cannot move a pipe: \(systemMessage())")
        }
    }

    deinit {
        closeRead()
        closeWrite()
    }

    package func closeRead() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    package func closeWrite() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    package func makeReadNonBlocking() {
        _ = fcntl(readEnd, F_SETFL, fcntl(readEnd, F_GETFL) | O_NONBLOCK)
    }
}

/// Arguments and variables in the form that C functions take.
package enum CommandVector {
    package static func with<Output>(
        _ arguments: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        with(arguments.map { strdup($0) }, body)
    }

    package static func with<Output>(
        _ variables: [EnvironmentVariable], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        with(variables.map { ($0.bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer(copy) }, body)
    }

    private static func copy(_ text: UnsafeBufferPointer<CChar>) -> UnsafeMutablePointer<CChar>? {
        text.baseAddress.flatMap { strdup($0) }
    }

    /// Frees the copies after the body has returned.
    private static func with<Output>(
        _ copies: [UnsafeMutablePointer<CChar>?], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        let pointers = copies + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an empty command") }
            return body(base)
        }
    }
}
