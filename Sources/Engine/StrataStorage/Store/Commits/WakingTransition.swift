/// Transitions that may end the waiting of threads, which are then woken.
enum WakingTransition: String, CaseIterable {
    /// A leader has written and synced records.
    case lead
    /// A checkpoint has made versions durable.
    case acknowledgement
    /// Records are in the log without a sync.
    case write
    /// A write or a sync has failed.
    case failure
    /// The sync at the end of the interval of the durability class `periodic` is done.
    case promisedSync
    /// Another process becomes the owner of writing.
    case handOver
    case close

    #if Zoo
        /// The transition after which no thread is woken, a mistake. Set by one test at a time, before its threads
        /// begin.
        nonisolated(unsafe) static var silent: WakingTransition?

        var isSilent: Bool { self == Self.silent }
    #endif
}
