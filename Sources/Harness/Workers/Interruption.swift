import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Ctrl-C, or a polite end from outside: the run stops after what it can still put in order.
///
/// The first signal sets a flag that the runner asks; a second interrupt ends the process at once, and its workers with
/// it. What is called in the handler is safe there: an atomic counter and `_exit`.
package enum Interruption {
    private static let requests = Atomic<Int>(0)

    /// The exit status of a program that an interrupt ended.
    package static let exitStatus: Int32 = 130

    package static var isRequested: Bool {
        requests.load(ordering: .relaxed) > 0
    }

    /// An interrupt that the parent ignores (a job in the background) stays ignored.
    package static func install() {
        // Made now: a handler may not run what makes it.
        _ = requests.load(ordering: .relaxed)
        handle(SIGINT) { _ in
            if Interruption.requests.add(1, ordering: .relaxed).oldValue > 0 { _exit(Interruption.exitStatus) }
        }
        handle(SIGTERM) { _ in _ = Interruption.requests.add(1, ordering: .relaxed) }
    }

    private static func handle(_ number: Int32, _ handler: @convention(c) (Int32) -> Void) {
        let before = signal(number, handler)
        guard let before, unsafeBitCast(before, to: Int.self) == 1 else { return }
        signal(number, SIG_IGN)
    }
}
