import Files
import Harness
import Platform
import Synchronization

/// The processes that a program started and no longer owns: daemons, and processes in sessions of their own.
///
/// 1. The kernel makes this process the parent of orphans below it (PR_SET_CHILD_SUBREAPER). So a process that a
///    program started is below the program, or a child of this process's first thread.
/// 2. Several programs run at a time. An inherited mark identifies an orphan's program: the soft limit RLIMIT_LOCKS,
///    which no kernel since 2.4 uses. A new session, an empty environment and another program do not change it.
/// 3. A program inherits its mark from this process, which carries it during the start: set right after the start, it
///    would miss processes that the program had started by then. If this process may not set the limit, the variable in
///    the program's environment is the only mark.
/// 4. Only the trial that started a program waits for its orphans: no other trial loses an exit status.
package struct StartedProcesses: Sendable {
    private static let variable = "ASSAY_TRIAL"
    /// RLIMIT_LOCKS, which the Glibc module does not export.
    private static let limitNumber: Int32 = 10
    private static let started = Atomic<UInt64>(0)
    /// One thread at a time starts a program, because the mark is a limit of the whole process.
    private static let starting = Mutex(())
    private static let adoptsOrphans = Atomic(false)

    private let number: UInt64
    /// Process id of the program; 0 before its start.
    private var leader: pid_t = 0
    private var mark: UInt64?

    /// Makes this process the parent of orphans, and lets trials kill those of their programs. For a process that runs
    /// only trials: other orphans would stay in it as zombies that no thread waits for.
    package static func adoptOrphans() {
        adoptsOrphans.store(KernelCalls.adoptOrphans(), ordering: .sequentiallyConsistent)
    }

    /// To be created before the start of the program.
    init() {
        number = Self.started.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The variable in the program's environment.
    var setting: String { "\(Self.variable)=\(getpid())-\(number)" }

    /// Starts the program by `body`, which returns its process id.
    mutating func start(_ body: () throws -> pid_t) throws -> pid_t {
        leader = try Self.starting.withLock { _ in
            guard let before = KernelCalls.limit(Self.limitNumber, of: 0), before.rlim_max > number else {
                return try body()
            }
            var marked = before
            marked.rlim_cur = before.rlim_max - rlim_t(number)
            guard KernelCalls.setLimit(Self.limitNumber, of: 0, to: marked) else { return try body() }
            defer { _ = KernelCalls.setLimit(Self.limitNumber, of: 0, to: before) }
            mark = UInt64(marked.rlim_cur)
            return try body()
        }
        return leader
    }

    /// The program's processes whose parent is this process, zombies included.
    var orphans: [pid_t] {
        guard Self.adoptsOrphans.load(ordering: .sequentiallyConsistent) else { return [] }
        return Self.ownChildren().filter { $0 != leader && isOurs($0) }
    }

    private func isOurs(_ process: pid_t) -> Bool {
        if getpgid(process) == leader { return true }
        let limit = KernelCalls.limit(Self.limitNumber, of: process)
        if let mark, let limit, UInt64(limit.rlim_cur) == mark { return true }
        guard let environment = try? FileTree.readBytes("/proc/\(process)/environ") else { return false }
        return environment.split(separator: 0).contains { $0.elementsEqual(setting.utf8) }
    }

    /// Kills the orphans.
    func killOrphans() {
        for process in orphans { kill(process, SIGKILL) }
    }

    /// Reaps zombies: a program may wait until the process id of its daemon is gone.
    func takeAwayDead() {
        var status: Int32 = 0
        for process in orphans { waitpid(process, &status, WNOHANG) }
    }

    /// To be called after the program has ended. Kills all its orphans and waits for their end, so that no process
    /// writes any more; for at most a second, because a process that waits in the kernel cannot be killed.
    func endAll() {
        var pause: UInt32 = 50
        var waited: UInt32 = 0
        while waited < 1_000_000 {
            let hasGroup = kill(-leader, SIGKILL) == 0
            let left = orphans
            if !hasGroup && left.isEmpty { return }
            for process in left { kill(process, SIGKILL) }
            usleep(pause)
            var status: Int32 = 0
            for process in left { waitpid(process, &status, WNOHANG) }
            waited += pause
            pause = min(2 * pause, 1_000)
        }
    }

    /// The children of the first thread, which orphans become. Empty if the kernel does not list them.
    private static func ownChildren() -> [pid_t] {
        let descriptor = open("/proc/self/task/\(getpid())/children", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var count = 0
        repeat {
            count = 0
            text.append(
                contentsOf: [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, used in
                    count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
                    used = count
                })
        } while count > 0
        return text.split(separator: UInt8(ascii: " ")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
    }
}
