import Harness
import RunRecords
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a program started and let go of: daemons, and what went into a session of its own.
///
/// 1. The kernel gives orphans below this process to this process (PR_SET_CHILD_SUBREAPER) once it has asked for them.
///    So what a program started is below the program, or is a child of the first thread of this process.
/// 2. Several programs run at a time. Whose child an orphan is, a mark tells that every process inherits: the soft
///    limit RLIMIT_LOCKS, which no kernel since 2.4 looks at. A new session, an empty environment and another program
///    do not change it.
/// 3. A program inherits its mark from this process, which has it while it starts the program: given right after the
///    start, it came too late for what the program had started by then. Where this process may not take a mark, the
///    variable in the environment of the program is left.
/// 4. Only the trial that started a program waits for the orphans of it: no other one loses an exit status.
package struct StartedProcesses: Sendable {
    private static let variable = "ASSAY_TRIAL"
    /// RLIMIT_LOCKS, which the Glibc module does not show.
    private static let limitNumber: Int32 = 10
    private static let started = Atomic<UInt64>(0)
    /// One program is started at a time, because the mark is a limit of the whole process.
    private static let starting = Mutex(())
    private static let adoptsOrphans = Atomic(false)

    private let number: UInt64
    /// Of the program; 0 before it was started.
    private var leader: pid_t = 0
    private var mark: UInt64?

    /// Orphans become children of this process from now on, and trials end those of their programs. For a process that
    /// does nothing but trials: orphans of anything else would stay in it as dead children that nothing waits for.
    package static func adoptOrphans() {
        #if canImport(Glibc)
            adoptsOrphans.store(KernelCalls.adoptOrphans(), ordering: .sequentiallyConsistent)
        #endif
    }

    /// To be made before the program is started.
    init() {
        number = Self.started.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// What the program gets in its environment.
    var setting: String { "\(Self.variable)=\(getpid())-\(number)" }

    /// Starts the program by `body`, which gives its number.
    mutating func start(_ body: () throws -> pid_t) throws -> pid_t {
        leader = try Self.starting.withLock { _ in
            #if canImport(Glibc)
                guard let before = KernelCalls.limit(Self.limitNumber, of: 0), before.rlim_max > number else {
                    return try body()
                }
                var marked = before
                marked.rlim_cur = before.rlim_max - rlim_t(number)
                guard KernelCalls.setLimit(Self.limitNumber, of: 0, to: marked) else { return try body() }
                defer { _ = KernelCalls.setLimit(Self.limitNumber, of: 0, to: before) }
                mark = UInt64(marked.rlim_cur)
            #endif
            return try body()
        }
        return leader
    }

    /// Those that have no parent but this process, dead ones among them.
    var orphans: [pid_t] {
        guard Self.adoptsOrphans.load(ordering: .sequentiallyConsistent) else { return [] }
        return Self.ownChildren().filter { $0 != leader && isOurs($0) }
    }

    private func isOurs(_ process: pid_t) -> Bool {
        if getpgid(process) == leader { return true }
        #if canImport(Glibc)
            let limit = KernelCalls.limit(Self.limitNumber, of: process)
            if let mark, let limit, UInt64(limit.rlim_cur) == mark { return true }
        #endif
        guard let environment = try? FileTree.readBytes("/proc/\(process)/environ") else { return false }
        return environment.split(separator: 0).contains { $0.elementsEqual(setting.utf8) }
    }

    /// Kills the orphans.
    func killOrphans() {
        for process in orphans { kill(process, SIGKILL) }
    }

    /// Takes away those that are dead: a program may wait until the number of its daemon is gone.
    func takeAwayDead() {
        var status: Int32 = 0
        for process in orphans { waitpid(process, &status, WNOHANG) }
    }

    /// The program has ended. All that it left is killed and is gone, so that nothing writes any more; for a second at
    /// most, because what waits in the kernel cannot be ended.
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

    /// The children of the first thread, which orphans become. None where the kernel does not list them.
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
