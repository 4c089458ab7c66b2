/// How a file grows when its contents pass its end.
package enum GrowthPolicy: Sendable, Equatable {
    /// Twice as large up to 1 MiB, then by an eighth of the size in whole MiB: 1 MiB at least, and 64 MiB at most.
    ///
    /// | size | step |
    /// |---|---|
    /// | below 1 MiB | the size |
    /// | up to 16 MiB | 1 MiB |
    /// | 64 MiB | 8 MiB |
    /// | 512 MiB and more | 64 MiB |
    case automatic
    /// Twice as large until `upTo`, in bytes, then by `thenBy` more.
    case doubling(upTo: Int, thenBy: Int)
    /// By the same number of bytes each time.
    case fixed(Int)
    /// By a share of the size.
    case percent(Int)

    package static var standard: GrowthPolicy { .automatic }

    private static let megabyte = 1 << 20
    private static let mostAtOnce = 64 << 20

    /// Pages to have room for, at least `needed`.
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
    /// The product, or the largest number.
    fileprivate func multiplied(atMost factor: Int) -> Int {
        let (product, isHuge) = multipliedReportingOverflow(by: factor)
        return isHuge ? .max : product
    }
}
