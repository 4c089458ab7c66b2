import Platform
import Synchronization

/// SIGINT and SIGTERM end a run in an orderly way.
///
/// After the first signal, the runner finds the counter of signals above 0, and ends the run. On a later SIGINT the
/// handler ends the process at once, and the kernel kills the workers, which asked for that. The handler uses only an
/// atomic counter and `_exit`, which are async-signal-safe.
package enum Interruption {
    private static let requests = Atomic<Int>(0)

    /// The exit status after an interrupt.
    package static let exitStatus: Int32 = 130

    package static var isRequested: Bool {
        requests.load(ordering: .relaxed) > 0
    }

    /// A signal that this process was started to ignore, as a background job is, stays ignored.
    package static func install() {
        // Creates the counter now: the handler must not run its lazy initialisation.
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
