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

    /// Whether this process is asked for it.
    var isPlanted: Bool {
        #if Zoo
            getenv(SelfTest.variable).map { String(cString: $0) } == rawValue
        #else
            false
        #endif
    }
}
