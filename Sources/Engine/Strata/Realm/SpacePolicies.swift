import StrataStorage

extension RealmConfiguration {
    /// How the file grows when its contents exceed it. All sizes are bytes.
    public enum GrowthPolicy: Sendable, Equatable {
        /// Doubles up to 1 MiB, then grows by an eighth of its size, between 1 and 64 MiB.
        case automatic
        /// Doubles until `upTo`, then grows by `thenBy`.
        case doubling(upTo: Int, thenBy: Int)
        /// Grows by the same number of bytes each time.
        case fixed(Int)
        /// Grows by a share of its size, in percent.
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

    /// When a file returns the space of deleted objects to the file system.
    public enum CompactionPolicy: Sendable {
        /// Never moves data to free space. Free space is reused, and a free end of the file is truncated.
        case never
        /// The first open of the file in this process calls the closure with total and used bytes, and rewrites the
        /// file if it returns true. This case takes precedence over ``RealmConfiguration/shouldCompactOnLaunch``.
        ///
        /// The file is opened as it is if another process has it open, or the disk has no room for a copy.
        case onLaunch(@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)
        /// In small background steps while the file is in use, whenever more than this share of it, from 0 to 1, is
        /// free. A commit waits for at most one step: about a quarter of a megabyte, or the largest single value.
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
