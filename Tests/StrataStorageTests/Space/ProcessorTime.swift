#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What work costs on a machine that does other things at the same time: the time by the clock says nothing there.
enum ProcessorTime {
    /// - Returns: seconds of processor time, of the kernel's too, that this thread took for the work.
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let before = ofThisThread
        try work()
        return ofThisThread - before
    }

    private static var ofThisThread: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
