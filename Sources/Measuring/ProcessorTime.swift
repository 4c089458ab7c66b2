#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What work costs on a machine that does other things at the same time: the time by the clock says nothing there.
package enum ProcessorTime {
    /// - Returns: seconds of processor time, of the kernel's too, that this thread took for the work.
    package static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let before = ofThisThread
        try work()
        return ofThisThread - before
    }

    /// How much dearer an item becomes when there are more of them: 1 where an item costs the same among many as among
    /// few, 8 from 1 000 to 8 000 where each looks at all the others.
    ///
    /// The work for `few` is done twice, and the second time counts: the first also pays for what a program does once.
    /// - Parameter work: does it all for so many items, on the calling thread.
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
