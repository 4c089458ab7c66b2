import Platform

/// System calls that Swift's Glibc module lacks (guarded by _GNU_SOURCE, or variadic). `LoadedSymbols` finds them by
/// name. Where the system lacks one, its function here reports a failure; only `dieWithParent` ignores that.
package enum KernelCalls {
    private typealias CopyFileRange =
        @convention(c) (
            Int32, UnsafeMutablePointer<Int64>?, Int32, UnsafeMutablePointer<Int64>?, Int, UInt32
        ) -> Int
    // On the machines that are supported, a variadic C function takes integers as one with fixed parameters does.
    private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32

    private typealias AddDirectory =
        @convention(c) (UnsafeMutablePointer<Spawning.FileActions>, UnsafePointer<CChar>) -> Int32

    private typealias ProcessLimit =
        @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32
    private typealias ProcessDescriptor = @convention(c) (pid_t, UInt32) -> Int32

    private static let processLimitFunction = LoadedSymbols.function("prlimit", as: ProcessLimit.self)
    private static let processDescriptorFunction = LoadedSymbols.function("pidfd_open", as: ProcessDescriptor.self)
    private static let addDirectoryFunction = LoadedSymbols.function(
        "posix_spawn_file_actions_addchdir_np", as: AddDirectory.self)
    private static let copyFileRangeFunction = LoadedSymbols.function("copy_file_range", as: CopyFileRange.self)
    private static let processControlFunction = LoadedSymbols.function("prctl", as: ProcessControl.self)

    /// Copies up to `count` bytes from one descriptor's position to the other's; returns -1 with errno on failure.
    package static func copyFileRange(_ input: Int32, _ output: Int32, count: Int) -> Int {
        guard let copyFileRangeFunction else {
            errno = ENOSYS
            return -1
        }
        return copyFileRangeFunction(input, nil, output, nil, count, 0)
    }

    /// Makes a child start in that directory. Returns false if the C library cannot do that.
    package static func addDirectory(_ path: String, to actions: inout Spawning.FileActions) -> Bool {
        addDirectoryFunction?(&actions, path) == 0
    }

    /// Whether this program was built with the thread sanitizer.
    package static let hasThreadSanitizer = dlsym(LoadedSymbols.everywhere, "__tsan_init") != nil

    /// The environment of this process, for a child. This program does not change it.
    package static var environment: UnsafePointer<UnsafeMutablePointer<CChar>?>? {
        // The imported `environ` is a global variable without protection, which Swift 6 does not allow.
        guard let symbol = dlsym(LoadedSymbols.everywhere, "environ") else { return nil }
        return UnsafePointer(symbol.load(as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self))
    }

    /// Makes this process the parent of orphaned descendants. Returns false if the kernel cannot.
    package static func adoptOrphans() -> Bool {
        let setChildSubreaper: Int32 = 36
        return processControlFunction?(setChildSubreaper, 1, 0, 0, 0) == 0
    }

    /// A limit of a process by its number (`RLIMIT_..`); nil if this process may not read it.
    package static func limit(_ number: Int32, of process: pid_t) -> rlimit? {
        var limit = rlimit()
        guard let processLimitFunction, processLimitFunction(process, number, nil, &limit) == 0 else { return nil }
        return limit
    }

    /// Sets a limit of a process. Returns false if this process may not.
    package static func setLimit(_ number: Int32, of process: pid_t, to limit: rlimit) -> Bool {
        withUnsafePointer(to: limit) { processLimitFunction?(process, number, $0, nil) == 0 }
    }

    /// A descriptor that becomes readable when the process ends; -1 if the system has none. It is closed on exec.
    package static func descriptor(of process: pid_t) -> Int32 { processDescriptorFunction?(process, 0) ?? -1 }

    /// Asks the kernel to kill this process when its parent ends.
    ///
    /// - Parameter parent: the process that started this one. If it ended before the call, the kernel kills nothing,
    ///   and this process exits here. nil skips that check: a profiler may be between the two processes.
    package static func dieWithParent(_ parent: pid_t?) {
        let setParentDeathSignal: Int32 = 1
        _ = processControlFunction?(setParentDeathSignal, UInt(SIGKILL), 0, 0, 0)
        if let parent, getppid() != parent { _exit(1) }
    }
}
