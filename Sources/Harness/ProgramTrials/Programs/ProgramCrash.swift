import Harness
import Platform

/// Signals that mean that the program crashed.
package enum ProgramCrash {
    private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGSYS, SIGXCPU, SIGXFSZ]

    /// The signal that ended a program, or the one that a shell reports by a status above 128.
    package static func signal(of end: ChildEnd) -> Int32? {
        switch end {
        case .signalled(let signal): signal
        case .exited(let status): signals.first { status == 128 + $0 }
        }
    }
}
