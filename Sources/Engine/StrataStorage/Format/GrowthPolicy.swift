/// How the data file grows when its contents exceed it.
package enum GrowthPolicy: Sendable, Equatable {
    /// Doubles up to 1 MiB, then grows by an eighth of its size in whole MiB: at least 1 MiB, at most 64 MiB.
    ///
    /// | size | step |
    /// |---|---|
    /// | below 1 MiB | the size |
    /// | up to 16 MiB | 1 MiB |
    /// | 64 MiB | 8 MiB |
    /// | 512 MiB and more | 64 MiB |
    case automatic
    /// Doubles until `upTo` bytes, then grows by `thenBy` bytes.
    case doubling(upTo: Int, thenBy: Int)
    /// By the same number of bytes each time.
    case fixed(Int)
    /// By a share of the size.
    case percent(Int)

    package static var standard: GrowthPolicy { .automatic }

    private static let megabyte = 1 << 20
    private static let mostAtOnce = 64 << 20

    /// The new size in pages, at least `needed`.
    func capacity(for needed: Int, current: Int) -> Int {
        let page = Format.pageSize
        let bytes = current.multiplied(atMost: page)
        let step =
            switch self {
            case .automatic:
                bytes < Self.megabyte
                    ? bytes : min(max(bytes / 8 / Self.megabyte, 1) * Self.megabyte, Self.mostAtOnce)
            case .doubling(let limit, let step): bytes < limit ? bytes : step
            case .fixed(let step): step
            case .percent(let share): (bytes / 100).multiplied(atMost: max(share, 0))
            }
        #if Zoo
            if PlantedMistake.growsFar.isPlanted { return max(needed, current + (16 << 20) / page) }
        #endif
        let (sum, isHuge) = bytes.addingReportingOverflow(max(step, 0))
        let grown = isHuge ? Int.max : sum
        return max(needed, grown / page + (grown % page == 0 ? 0 : 1))
    }
}

extension Int {
    /// The product, or the largest integer.
    fileprivate func multiplied(atMost factor: Int) -> Int {
        let (product, isHuge) = multipliedReportingOverflow(by: factor)
        return isHuge ? .max : product
    }
}
