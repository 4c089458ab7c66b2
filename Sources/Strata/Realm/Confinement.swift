import Dispatch

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Where a Realm and everything read from it may be used.
enum Confinement {
    case thread(UInt)
    case queue(DispatchQueue, mark: QueueMark)
    /// Frozen: anywhere.
    case none

    /// The calling thread's identity; of no use after the thread ended.
    static var currentThread: UInt {
        #if canImport(Darwin)
            return UInt(bitPattern: pthread_self())
        #else
            return UInt(pthread_self())
        #endif
    }

    static func queue(_ queue: DispatchQueue) -> Self {
        let mark = QueueMark()
        queue.setSpecific(key: mark.key, value: true)
        return .queue(queue, mark: mark)
    }

    var isHere: Bool {
        switch self {
        case .thread(let thread): return thread == Self.currentThread
        case .queue(_, let mark): return DispatchQueue.getSpecific(key: mark.key) == true
        case .none: return true
        }
    }
}

/// Tells a queue from others.
final class QueueMark: Sendable {
    let key = DispatchSpecificKey<Bool>()
}

extension Confinement {
    /// Whether the caller runs on the thread that the program started on.
    static var isMainThread: Bool {
        #if canImport(Darwin)
            return pthread_main_np() != 0
        #else
            return getpid() == currentThreadNumber()
        #endif
    }
}

#if !canImport(Darwin)
    /// The kernel's number of the calling thread; the first thread's is the process's.
    @_silgen_name("gettid")
    private func currentThreadNumber() -> pid_t
#endif
