#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The cost of work on a busy machine, where elapsed time means nothing.
package enum ProcessorTime {
    /// - Returns: seconds of processor time, including the kernel's, of this thread.
    package static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let before = ofThisThread
        try work()
        return ofThisThread - before
    }

    /// How the cost per item grows with their number: 1 where it stays the same, 8 from 1 000 to 8 000 items where each
    /// visits all others.
    ///
    /// The work for `few` is done twice, and the second time counts: the first includes one-time costs.
    /// - Parameter work: does the work for that many items, on the calling thread.
    package static func growth(from few: Int, to many: Int, _ work: (Int) throws -> Void) rethrows -> Double {
        try work(few)
        let short = try seconds { try work(few) }
        let long = try seconds { try work(many) }
        return long / Double(many) / (short / Double(few))
    }

    private static var ofThisThread: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
