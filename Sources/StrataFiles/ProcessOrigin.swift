import CStrataShim

/// The process that something was made in: a process that was forked off since then must leave it alone.
///
/// Its threads, locks and open files are the parent's. A spawned program never sees it.
package struct ProcessOrigin: Sendable {
    private let forks = strata_fork_count()

    package init() {}

    /// Whether this process was forked off since then.
    /// - Complexity: a load.
    @inline(__always) package var isForked: Bool { forks != strata_fork_count() }

    /// Does what a process that is forked off has to find done, or not begun: no fork comes in between.
    ///
    /// For a few calls of the system. Not to be nested, and nothing is let go of in `body` that is unmapped with it.
    static func withoutForks<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        strata_hold_forks()
        defer { strata_release_forks() }
        return try body()
    }
}
