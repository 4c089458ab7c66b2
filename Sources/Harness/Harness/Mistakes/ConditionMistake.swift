import Platform

/// A condition of a case that the harness leaves out on purpose, in a build with the trait Zoo, to test that a check
/// notices it.
package enum ConditionMistake: String, Sendable, CaseIterable {
    /// No call is delayed.
    case delayLeftOut = "delay-left-out"
    /// Files stay in the page cache.
    case cacheKept = "cache-kept"
    /// The record of a program's calls lacks every fifth of its writes.
    case recordForgets = "record-forgets-writes"
    /// The record of a program's calls has a sync after every write, which the program did not make.
    case recordInventsSyncs = "record-invents-syncs"
    /// After a power failure, only disks are tried that lost nothing.
    case nothingLost = "power-takes-nothing"

    /// No limit is set for a process.
    case limitLeftOut = "limit-left-out"
    /// A disk that should be full keeps its space.
    case diskNotFilled = "disk-not-filled"

    /// Whether this process is to make this mistake.
    package var isPlanted: Bool {
        #if Zoo
            MistakeVariable.value == rawValue
        #else
            false
        #endif
    }
}
