#if Zoo
    import Platform
    import Synchronization

    /// Slows down all measured work by a share, to test whether a comparison of builds detects it.
    ///
    /// Before it reads the clock, a thread spins for a share of the time since its previous reading. So the time
    /// between any two readings becomes that much longer, however they are nested: a batch, an operation in it, a whole
    /// run of commits.
    @usableFromInline
    package enum PlantedDelay {
        /// The environment variable with the percentage by which measured work becomes slower.
        package static let variable = "ASSAY_ZOO_SLOW"

        private static let percent = Atomic<UInt64>(0)
        /// The time of each thread's last reading.
        private static let lastLook = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// Reads the percentage from the environment. Only worker processes call it: other processes measure nothing.
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
