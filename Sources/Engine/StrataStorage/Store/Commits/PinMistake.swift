#if Zoo
    /// Mistakes of pins that schedules of threads show.
    enum PinMistake: String, CaseIterable {
        /// Pins of a version are not counted when another one takes its place.
        case pinsUncounted
        /// A slot is used for the next version while the one before is pinned.
        case slotUsedEarly
        /// Pins that are left when a version is replaced become no pin of ``VersionPins``.
        case pinsForgotten
        /// A version is replaced, and readers go on pinning the earlier one.
        case neverRetired
        /// An owner publishes to other processes while its own readers still pin the earlier version.
        case retiredLate
        /// What is pinned is asked while readers still pin the earlier version.
        case askedEarly
        /// Readers pin a version that is committed and not durable yet.
        case sharedEarly
        /// A process that does not own writing trusts a pin without a look at the newest version.
        case storedUnchecked
        /// A released pin is counted in two steps: of two threads that release at once, one is lost.
        case releasedInSteps
        /// A process that gives up writing does not take away what its readers pin.
        case ownershipKept
        /// A close does not take away what readers pin.
        case sharedAfterClose

        /// Set by one test at a time, before its threads begin.
        nonisolated(unsafe) static var planted: PinMistake?

        var isMade: Bool { self == Self.planted }
    }
#endif
