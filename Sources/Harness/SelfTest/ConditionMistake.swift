#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A condition of a case that the harness leaves out on purpose, in a build with the trait Zoo: so that a check which
/// would believe that it was there is found out.
package enum ConditionMistake: String, Sendable, CaseIterable {
    /// Nothing is delayed.
    case delayLeftOut = "delay-left-out"
    /// Files stay in the page cache.
    case cacheKept = "cache-kept"
    /// The record of a program lacks every fifth of its writes.
    case recordForgets = "record-forgets-writes"
    /// The record of a program has a sync behind every write that nobody made.
    case recordInventsSyncs = "record-invents-syncs"
    /// Of the disks that a loss of power may have left only those are tried that lost nothing.
    case nothingLost = "power-takes-nothing"

    /// No limit is set for a process.
    case limitLeftOut = "limit-left-out"
    /// A disk that is to be full has all its room.
    case diskNotFilled = "disk-not-filled"

    /// Whether this process is asked for it.
    package var isPlanted: Bool {
        #if Zoo
            getenv(SelfTest.variable).map { String(cString: $0) } == rawValue
        #else
            false
        #endif
    }
}
