import Platform

/// Measures the cost of work by the time on a processor, which a busy machine does not distort as it does elapsed time.
package enum ProcessorTime {
    /// - Returns: seconds of processor time of this thread, including time in the kernel.
    package static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let before = ofThisThread
        try work()
        return ofThisThread - before
    }

    /// How the cost per item grows with the number of items, from `few` to `many`: 1 if it stays the same, 8 from 1 000
    /// to 8 000 items if each item visits all others.
    ///
    /// The work for `few` is done twice, and the second time counts: the first includes costs that arise only once.
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
