/// Drops a database's files from the page cache before each measurement, and records whether that succeeded.
package struct ColdFiles {
    /// The share of the files that may stay in the page cache: a page or two at the edges of the dropped range do not
    /// make the cache warm.
    package static let mostResident = 0.01

    private let context: CaseContext
    private let location: DatabaseLocation
    private var shares: [Double] = []

    /// - Parameter location: a database that no process has open.
    package init(_ context: CaseContext, at location: DatabaseLocation) {
        self.context = context
        self.location = location
    }

    /// The scenario calls it before each clock starts, while no process has the files open.
    package mutating func drop() throws {
        // Lists the files anew: an open since the last call may have written and removed some, as RocksDB does.
        let paths = context.engine.files(at: location).map(\.path)
        if !ConditionMistake.cacheKept.isPlanted { try SlowDisk.ownWork { try PageCache.drop(paths) } }
        shares.append(try PageCache.residentShare(paths))
    }

    /// Reports the largest share that stayed in the page cache. If it is too large, the cache was warm, and the case is
    /// inconclusive.
    package func report() {
        let most = shares.max() ?? 1
        context.report.add(.residentShare, most, statistic: "max", count: shares.count)
        guard most > Self.mostResident else { return }
        let percent = (most * 1_000).rounded() / 10
        context.report.inconclusive(
            "CACHE NOT COLD: \(percent) % of the files were still in memory; another process maps them, or their file "
                + "system is in memory")
    }
}
