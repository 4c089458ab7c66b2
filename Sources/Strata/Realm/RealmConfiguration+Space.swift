import StrataStorage

extension Realm.Configuration {
    /// How a file grows when its contents pass its end. All sizes are bytes.
    public enum GrowthPolicy: Sendable, Equatable {
        /// Twice as large up to 1 MiB, then by an eighth of the size, between 1 and 64 MiB.
        case automatic
        /// Twice as large until `upTo`, then by `thenBy` more.
        case doubling(upTo: Int, thenBy: Int)
        /// By the same number of bytes each time.
        case fixed(Int)
        /// By a share of the size, in percent.
        case percent(Int)

        public static var standard: GrowthPolicy { .automatic }

        var storage: StrataStorage.GrowthPolicy {
            switch self {
            case .automatic: .automatic
            case .doubling(let limit, let step): .doubling(upTo: limit, thenBy: step)
            case .fixed(let step): .fixed(step)
            case .percent(let share): .percent(share)
            }
        }
    }

    /// When a file gives the space of deleted objects back to the file system.
    public enum CompactionPolicy: Sendable {
        /// Free space is used again, and the free end of the file is cut; nothing is moved for that.
        case never
        /// Asked at the first open of the file in this process, with total and used bytes: true rewrites the file. As
        /// ``Realm/Configuration/shouldCompactOnLaunch``, and before it.
        ///
        /// The file is opened as it is when another process has it open, and when the disk has no room for a copy.
        case onLaunch(@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)
        /// In small steps in the background while the file is in use, whenever more than this share of it, from 0 to 1,
        /// is free. A commit waits for one step at most: about a quarter of a megabyte, or the largest single value.
        case online(freeShare: Double)

        var storage: StrataStorage.CompactionPolicy {
            switch self {
            case .never: .never
            case .onLaunch(let decide): .onLaunch(decide)
            case .online(let share): .online(freeShare: share)
            }
        }
    }
}
