import CStrataShim

/// The process in which an object was made. A child that was forked off since then must not use the object.
///
/// The object's threads, locks and open files are the parent's. A spawned program never sees it.
package struct ProcessOrigin: Sendable {
    private let forks = strata_fork_count()

    package init() {}

    /// Whether this process was forked off since then.
    /// - Complexity: one load.
    @inline(__always) package var isForked: Bool { forks != strata_fork_count() }

    /// Runs `body` while forks of this process are blocked, so that a child finds its effects complete or not begun.
    ///
    /// For a few system calls. Calls must not be nested, so `body` must not release an object that unmaps memory.
    static func withoutForks<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        strata_hold_forks()
        defer { strata_release_forks() }
        return try body()
    }
}
