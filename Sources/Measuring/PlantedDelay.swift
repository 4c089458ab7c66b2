#if Zoo
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Slows down everything that is timed, to test whether a comparison detects it.
    ///
    /// Every read of the clock first spins for a share of the time since the previous read on the same thread. So any
    /// interval between two reads becomes that much longer, with any nesting: a batch, an operation inside it, a whole
    /// run of commits.
    @usableFromInline
    package enum PlantedDelay {
        /// Percent by which measured work becomes slower.
        package static let variable = "ASSAY_ZOO_SLOW"

        private static let percent = Atomic<UInt64>(0)
        /// The time of each thread's last read.
        private static let lastLook = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// For a worker process: reads the environment. Other processes measure nothing.
        package static func beginInWorker() {
            begin(percent: getenv(variable).flatMap { UInt64(String(cString: $0)) } ?? 0)
        }

        /// - Parameter percent: at most 10 000; 0 ends the delay.
        package static func begin(percent: UInt64) {
            self.percent.store(min(percent, 10_000), ordering: .relaxed)
        }

        /// Called before the clock is read.
        @usableFromInline
        package static func wait() {
            let percent = percent.load(ordering: .relaxed)
            guard percent > 0 else { return }
            let now = time()
            let last = UInt64(UInt(bitPattern: pthread_getspecific(lastLook)))
            var end = now
            if last > 0, now > last {
                let limit = now &+ (now - last) * percent / 100
                while end < limit { end = time() }
            }
            pthread_setspecific(lastLook, UnsafeRawPointer(bitPattern: UInt(end)))
        }

        private static func time() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(time.tv_nsec))
        }
    }
#endif
