import Platform
import Testing

@testable import StrataStorage

/// Limits that a test puts on its own process. Such a test runs in a process of its own.
enum ProcessLimit {
    #if canImport(Glibc)
        /// Sets the soft limit; nil raises it to the hard limit.
        static func set(_ resource: __rlimit_resource, _ value: UInt64?) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
            limit.rlim_cur = min(value.map { rlim_t($0) } ?? limit.rlim_max, limit.rlim_max)
            setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        }

        /// The limit of the user's threads and processes together; it does not apply to root.
        static func setThreads(_ value: UInt64?) {
            // The header has no name for it that can be imported.
            let processes = __rlimit_resource_t(6)
            var limit = rlimit()
            getrlimit(processes, &limit)
            limit.rlim_cur = min(value.map { rlim_t($0) } ?? limit.rlim_max, limit.rlim_max)
            setrlimit(processes, &limit)
        }

        /// Bytes of address space that the process has mapped.
        static var mappedBytes: UInt64 {
            let text = StoreWorkerProcess.text("/proc/self/statm")
            return (text.split(separator: " ").first.flatMap { UInt64($0) } ?? 0) * 4096
        }

        /// Allows the process this much more address space.
        static func setAddressSpace(more bytes: UInt64?) { set(RLIMIT_AS, bytes.map { mappedBytes + $0 }) }
    #endif

    /// Becomes an unprivileged user, irreversibly. False if that is not permitted.
    static func becomeUnprivileged() -> Bool {
        #if canImport(Glibc)
            return geteuid() == 0 && setgroups(0, nil) == 0 && setgid(unprivileged) == 0
                && setuid(unprivileged) == 0
        #else
            return false
        #endif
    }

    /// A user and a group that own nothing.
    static let unprivileged: uid_t = 54_321
}
