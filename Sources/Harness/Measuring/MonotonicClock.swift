import Platform

/// Time that never goes back. A reading costs about 20 ns if the kernel answers without a system call.
@usableFromInline
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary moment, which is the same for all processes of the machine until it restarts.
    @inlinable
    package static func now() -> UInt64 {
        #if Zoo
            PlantedDelay.wait()
        #endif
        var time = timespec()
        // The call fails only for a clock that the kernel does not know.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(time.tv_nsec))
    }
}
