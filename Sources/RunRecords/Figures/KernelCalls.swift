#if canImport(Glibc)
    import Glibc

    /// System calls that the Glibc module does not show to Swift (guarded by _GNU_SOURCE, or variadic), by name.
    package enum KernelCalls {
        private typealias CopyFileRange =
            @convention(c) (
                Int32, UnsafeMutablePointer<Int64>?, Int32, UnsafeMutablePointer<Int64>?, Int, UInt32
            ) -> Int
        // On the supported machines a variadic C function takes integers like one with fixed parameters.
        private typealias ProcessControl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32

        private typealias AddDirectory =
            @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32

        private static let addDirectoryFunction =
            find("posix_spawn_file_actions_addchdir_np", as: AddDirectory.self)
        private static let copyFileRangeFunction: CopyFileRange? = find("copy_file_range", as: CopyFileRange.self)
        private static let processControlFunction: ProcessControl? = find("prctl", as: ProcessControl.self)

        private static func find<Function>(_ name: String, as type: Function.Type) -> Function? {
            // A null handle searches the whole program, as RTLD_DEFAULT does, whose macro Swift does not import.
            guard let symbol = dlsym(nil, name) else { return nil }
            return unsafeBitCast(symbol, to: type)
        }

        /// Copies up to `count` bytes between the descriptors' positions; -1 with errno on failure.
        package static func copyFileRange(_ input: Int32, _ output: Int32, count: Int) -> Int {
            guard let copyFileRangeFunction else {
                errno = ENOSYS
                return -1
            }
            return copyFileRangeFunction(input, nil, output, nil, count, 0)
        }

        /// A child starts in that directory. False where the C library cannot do that.
        package static func addDirectory(_ path: String, to actions: inout posix_spawn_file_actions_t) -> Bool {
            addDirectoryFunction?(&actions, path) == 0
        }

        /// Whether this program was built with the thread sanitizer.
        package static let hasThreadSanitizer = dlsym(nil, "__tsan_init") != nil

        /// The environment of this process, for a child. Not changed by this program.
        package static var environment: UnsafePointer<UnsafeMutablePointer<CChar>?>? {
            // The imported `environ` is a global variable without a guard, which Swift 6 does not let through.
            guard let symbol = dlsym(nil, "environ") else { return nil }
            return UnsafePointer(symbol.load(as: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self))
        }

        /// Asks the kernel to kill this process when its parent ends. The parent may have ended already: the caller
        /// compares getppid() afterwards.
        package static func dieWithParent() {
            let setParentDeathSignal: Int32 = 1
            _ = processControlFunction?(setParentDeathSignal, UInt(SIGKILL), 0, 0, 0)
        }
    }
#endif
