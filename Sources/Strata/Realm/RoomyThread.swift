#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs code that takes stack for each level of its input on a thread with enough of it: the caller may be a queue's
/// thread with 512 KiB.
enum RoomyThread {
    private static let stackBytes = 32 << 20

    private final class Work {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Returns after the body has run.
    /// - Returns: false, without running it, if no thread could be started.
    static func run(_ body: () -> Void) -> Bool {
        withoutActuallyEscaping(body) { (body) -> Bool in
            let work = Work(body)
            return withExtendedLifetime(work) { run(Unmanaged.passUnretained(work).toOpaque()) }
        }
    }

    private static func run(_ work: UnsafeMutableRawPointer) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        #if canImport(Darwin)
            var thread: pthread_t?
            let isMade =
                pthread_create(
                    &thread, &attributes,
                    { work in
                        Unmanaged<Work>.fromOpaque(work).takeUnretainedValue().run()
                        return nil
                    }, work) == 0
            guard isMade, let thread else { return false }
        #else
            var thread = pthread_t()
            let isMade =
                pthread_create(
                    &thread, &attributes,
                    { work in
                        if let work { Unmanaged<Work>.fromOpaque(work).takeUnretainedValue().run() }
                        return nil
                    }, work) == 0
            guard isMade else { return false }
        #endif
        pthread_join(thread, nil)
        return true
    }
}
