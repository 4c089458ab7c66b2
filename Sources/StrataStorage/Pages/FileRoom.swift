internal import StrataFiles

/// How many pages the data file has room for: makes it longer as its policy says, and cuts it.
///
/// Guarded by the allocator's lock.
struct FileRoom {
    private let file: any File
    private let growth: GrowthPolicy
    private let map: PageMap
    /// Pages that the file has room for.
    private(set) var capacity: Int

    init(_ file: any File, _ growth: GrowthPolicy, _ map: PageMap, capacity: Int) {
        self.file = file
        self.growth = growth
        self.map = map
        self.capacity = capacity
        map.limit.pages.store(capacity, ordering: .releasing)
    }

    /// Another process has made the file longer, or has cut it.
    mutating func follow(_ capacity: Int) {
        self.capacity = capacity
        map.limit.pages.store(capacity, ordering: .releasing)
    }

    /// Whether so many pages can be mapped.
    func canMap(_ pages: Int) -> Bool { map.extend(to: pages) }

    /// Sees that the file has room for so many pages.
    /// - Parameters:
    ///   - beyond: pages that it should have room for behind them.
    ///   - isOptional: those behind them are not worth an error.
    /// - Throws: `noSpace`, `file`.
    mutating func ensure(_ end: Int, beyond: Int, isOptional: Bool) throws(StorageError) {
        let room = end + beyond
        if room <= capacity { return }
        let fitting = map.extend(to: room) ? Int(Format.arenaBit) - 1 : map.capacity
        let wanted = min(room, fitting)
        if wanted <= capacity { return }
        let step = growth.capacity(for: wanted, current: capacity)
        // A step that does not fit in the map is not worth a larger one: what is needed does.
        let planned = min(step, map.capacity, Int(Format.arenaBit) - 1)
        var sizes = [planned]
        // The policy's step may not fit where what is needed does.
        if planned > wanted { sizes.append(wanted) }
        if isOptional && wanted > end { sizes.append(end) }
        var failure: StorageError?
        for size in sizes {
            if size <= capacity { return }
            do throws(FileError) {
                try file.preallocate(to: Int64(size) * Int64(Format.pageSize))
                capacity = size
                map.limit.pages.store(size, ordering: .releasing)
                if size != planned { mark(.smallerGrowth) }
                return
            } catch {
                guard error.isNoSpace else { throw StorageError(error) }
                failure = StorageError(error)
            }
        }
        if let failure { throw failure }
    }

    /// Gives space at the end back to the file system.
    /// - Parameters:
    ///   - pages: to stay.
    ///   - slack: pages that are not worth it.
    ///   - most: pages to cut now.
    mutating func cut(to pages: Int, slack: Int, atMost most: Int) throws(StorageError) {
        let wanted = capacity - pages > most ? capacity - most : pages
        if wanted + slack >= capacity { return }
        mark(.cutFile)
        map.limit.pages.store(wanted, ordering: .releasing)
        do { try file.truncate(to: Int64(wanted) * Int64(Format.pageSize)) } catch {
            map.limit.pages.store(capacity, ordering: .releasing)
            throw StorageError(error)
        }
        capacity = wanted
    }
}
