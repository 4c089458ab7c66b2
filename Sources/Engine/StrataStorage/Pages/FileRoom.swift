internal import StrataFiles

/// Tracks the size of the data file, grows the file as its ``GrowthPolicy`` says, and truncates it.
///
/// Guarded by the allocator's lock.
struct FileRoom {
    private let file: any File
    private let growth: GrowthPolicy
    private let map: PageMap
    /// Size of the file in pages.
    private(set) var capacity: Int

    init(_ file: any File, _ growth: GrowthPolicy, _ map: PageMap, capacity: Int) {
        self.file = file
        self.growth = growth
        self.map = map
        self.capacity = capacity
        map.limit.pages.store(capacity, ordering: .releasing)
    }

    /// Adopts the size after another process grew or truncated the file.
    mutating func follow(_ capacity: Int) {
        self.capacity = capacity
        map.limit.pages.store(capacity, ordering: .releasing)
    }

    /// Whether this many pages can be mapped.
    func canMap(_ pages: Int) -> Bool { map.extend(to: pages) }

    /// Grows the file if it is too small.
    /// - Parameters:
    ///   - end: pages that the file must have.
    ///   - beyond: pages that the file should have behind `end`.
    ///   - isOptional: without room for the pages behind `end`, the file grows to `end` only, instead of an error.
    /// - Throws: `noSpace`, `file`.
    mutating func ensure(_ end: Int, beyond: Int, isOptional: Bool) throws(StorageError) {
        let room = end + beyond
        if room <= capacity { return }
        let fitting = map.extend(to: room) ? Int(Format.arenaBit) - 1 : map.capacity
        let wanted = min(room, fitting)
        if wanted <= capacity { return }
        let step = growth.capacity(for: wanted, current: capacity)
        // A step that exceeds the mapping does not enlarge it: the size needed is enough.
        let planned = min(step, map.capacity, Int(Format.arenaBit) - 1)
        var sizes = [planned]
        // On a full disk the policy's step may fail where the size needed fits.
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

    /// Truncates the file.
    /// - Parameters:
    ///   - pages: to keep.
    ///   - slack: unused pages to leave at the end.
    ///   - most: pages to cut at most.
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
