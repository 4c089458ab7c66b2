internal import StrataFiles

/// Which pages may be written, by the rule of birth and death.
///
/// Invariants
/// 1. A page that a protected version reaches is never handed out. Protected: pinned, from visible to last committed,
///    the last durable checkpoint, a checkpoint in progress.
/// 2. Every page is reachable from a protected version, free, or reserved by the open transaction; never two of them.
/// 3. A page born in b and freed in f is free when no protected version v has b <= v < f. A dead extent hangs on the
///    newest such version; when that one goes, it moves to the next or becomes free.
///
/// Concurrency: guarded by the store's lock on its versions; every call takes it.
final class PageAllocator {
    private let lock: any Monitor
    private let file: any File
    private let growth: GrowthPolicy
    /// A bit per page, set when free.
    @exclusivity(unchecked) private var free: [UInt64] = []
    @exclusivity(unchecked) private(set) var freeCount = 0
    /// No page below is free.
    @exclusivity(unchecked) private var firstFree = 0
    /// Pages that the file's contents take, free ones among them.
    @exclusivity(unchecked) private(set) var pageCount: Int
    /// Pages that the file has room for.
    @exclusivity(unchecked) private(set) var fileCapacity: Int
    private let limit: PageLimit
    private let maxPages: Int

    /// Counts of pins and other protections per version.
    @exclusivity(unchecked) private var protection: [UInt64: Int] = [:]
    /// The keys of `protection`, ascending.
    @exclusivity(unchecked) private var protected: [UInt64] = []
    @exclusivity(unchecked) private var hanging: [UInt64: [Extent]] = [:]
    @exclusivity(unchecked) private(set) var hangingPages = 0

    init(
        lock: any Monitor, map: PageMap, file: any File, growth: GrowthPolicy, pageCount: Int, fileCapacity: Int
    ) {
        self.lock = lock
        self.file = file
        self.growth = growth
        self.pageCount = pageCount
        self.fileCapacity = fileCapacity
        limit = map.limit
        maxPages = map.capacity
        limit.pages.store(fileCapacity, ordering: .releasing)
    }

    // MARK: Protection

    /// Protects a version from now on. The caller guarantees that it is protected by something else at the moment.
    func protect(_ version: UInt64) { lock.withLock { protectLocked(version) } }

    func unprotect(_ version: UInt64) { lock.withLock { unprotectLocked(version) } }

    private func protectLocked(_ version: UInt64) {
        if let count = protection[version] {
            protection[version] = count + 1
            return
        }
        protection[version] = 1
        protected.insert(version, at: lowerBound(version))
    }

    private func unprotectLocked(_ version: UInt64) {
        guard let count = protection[version] else { return }
        if count > 1 {
            protection[version] = count - 1
            return
        }
        protection[version] = nil
        protected.remove(at: lowerBound(version))
        guard let released = hanging.removeValue(forKey: version) else { return }
        for extent in released {
            hangingPages -= Int(extent.pages)
            place(extent)
        }
    }

    private func lowerBound(_ version: UInt64) -> Int {
        var low = 0
        var n = protected.count
        while n > 0 {
            let half = n >> 1
            if protected[low + half] < version {
                low += half + 1
                n -= half + 1
            } else {
                n = half
            }
        }
        return low
    }

    /// The oldest version that anything protects, for reports.
    var oldestProtected: UInt64? { lock.withLock { protected.first } }

    private func place(_ extent: Extent) {
        let index = lowerBound(extent.freed) - 1
        if index >= 0 && protected[index] >= extent.birth {
            hanging[protected[index], default: []].append(extent)
            hangingPages += Int(extent.pages)
        } else {
            markFree(Int(extent.page), Int(extent.pages))
        }
    }

    /// Takes what a committed version no longer reaches.
    func bury(_ extents: [Extent], freed: UInt64) {
        lock.withLock {
            for var extent in extents {
                extent.freed = freed
                place(extent)
            }
        }
    }

    /// Takes pages back that no version ever reached.
    func giveBack(_ extents: [Extent]) {
        lock.withLock { for extent in extents { markFree(Int(extent.page), Int(extent.pages)) } }
    }

    /// Pages of the contents, free ones, and ones that only older versions use.
    var counts: (pages: Int, free: Int, held: Int) { lock.withLock { (pageCount, freeCount, hangingPages) } }

    /// Pages of the contents.
    var usedPages: Int { lock.withLock { pageCount } }

    // MARK: Free pages

    private func markFree(_ page: Int, _ count: Int) {
        ensureBits(page + count)
        for index in page..<(page + count) { free[index >> 6] |= 1 << UInt64(index & 63) }
        freeCount += count
        firstFree = min(firstFree, page)
    }

    private func markUsed(_ page: Int, _ count: Int) {
        for index in page..<(page + count) { free[index >> 6] &= ~(1 << UInt64(index & 63)) }
        freeCount -= count
    }

    private func ensureBits(_ pages: Int) {
        let words = (pages + 63) / 64
        if words > free.count { free.append(contentsOf: repeatElement(0, count: words - free.count)) }
    }

    /// The first run of free pages at or after `from`.
    private func nextRun(_ from: Int) -> Range<Int>? {
        var index = from
        let end = min(pageCount, free.count * 64)
        while index < end {
            let word = free[index >> 6] >> UInt64(index & 63)
            if word == 0 {
                index = (index | 63) + 1
                continue
            }
            index += word.trailingZeroBitCount
            var stop = index
            while stop < end {
                let used = ~free[stop >> 6] >> UInt64(stop & 63)
                if used == 0 {
                    stop = (stop | 63) + 1
                } else {
                    stop += used.trailingZeroBitCount
                    break
                }
            }
            return index..<min(stop, end)
        }
        return nil
    }

    /// One run of pages: the smallest free one that fits, or the end of the file.
    /// - Throws: `noSpace` when the disk is full; nothing has changed then.
    func allocateRun(_ pages: Int) throws(StorageError) -> UInt32 {
        lock.lock()
        defer { lock.unlock() }
        if let found = bestRun(pages) {
            markUsed(found, pages)
            return UInt32(found)
        }
        return UInt32(try extend(by: pages))
    }

    private func bestRun(_ pages: Int) -> Int? {
        if freeCount < pages { return nil }
        var best: Range<Int>?
        var from = firstFree
        var isFirst = true
        while let run = nextRun(from) {
            if isFirst {
                firstFree = run.lowerBound
                isFirst = false
            }
            if run.count >= pages && run.count < best?.count ?? Int.max {
                best = run
                if run.count == pages || pages <= 16 { break }
            }
            from = run.upperBound
        }
        return best?.lowerBound
    }

    /// Runs that hold nodes of the given sizes, in order: one run where possible, else large ones before the end of
    /// the file; small ones only when there are many.
    /// - Parameter largest: pages of the largest node; no run is shorter.
    /// - Throws: `noSpace` when the disk is full; nothing has changed then.
    func allocate(_ pages: Int, largest: Int) throws(StorageError) -> [Range<Int>] {
        lock.lock()
        defer { lock.unlock() }
        if let found = bestRun(pages) {
            markUsed(found, pages)
            return [found..<(found + pages)]
        }
        var chosen: [Range<Int>] = []
        var need = pages
        if freeCount > 0 {
            var runs: [Range<Int>] = []
            var from = firstFree
            while let run = nextRun(from) {
                runs.append(run)
                from = run.upperBound
            }
            let usesSmall = freeCount * 50 > pageCount
            runs.sort { $0.count > $1.count }
            for run in runs where need > 0 {
                if run.count < largest || (run.count < 8 && !usesSmall) { break }
                // A remainder smaller than the largest node would be wasted.
                let n = min(need + largest - 1, run.count)
                chosen.append(run.lowerBound..<(run.lowerBound + n))
                need -= n - (largest - 1)
            }
        }
        if need > 0 {
            let n = need + (chosen.isEmpty ? 0 : largest - 1)
            let start = try extend(by: n)
            chosen.append(start..<(start + n))
        }
        for run in chosen where run.lowerBound < free.count * 64 {
            for page in run where page < free.count * 64 && free[page >> 6] >> UInt64(page & 63) & 1 != 0 {
                free[page >> 6] &= ~(1 << UInt64(page & 63))
                freeCount -= 1
            }
        }
        return chosen
    }

    /// Pages at the end of the file's contents; makes the file longer when they pass its end.
    private func extend(by pages: Int) throws(StorageError) -> Int {
        let start = pageCount
        let end = start + pages
        guard end <= maxPages, end < Int(Format.arenaBit) else { throw .limit(.pages) }
        if end > fileCapacity {
            var capacity = min(growth.capacity(for: end, current: fileCapacity), maxPages)
            do throws(FileError) {
                try file.preallocate(to: Int64(capacity) * Int64(Format.pageSize))
            } catch {
                guard error.isNoSpace, capacity > end else { throw StorageError(error) }
                // The policy's step does not fit; what is needed may.
                capacity = end
                do { try file.preallocate(to: Int64(capacity) * Int64(Format.pageSize)) } catch {
                    throw StorageError(error)
                }
            }
            fileCapacity = capacity
            limit.pages.store(capacity, ordering: .releasing)
        }
        pageCount = end
        ensureBits(end)
        return start
    }

    // MARK: Checkpoint

    /// What is free once only the newest committed version counts: free pages, dead ones that still hang, and those
    /// that the open transaction has reserved.
    func durableBits(_ reserved: [Extent]) -> [UInt64] {
        lock.withLock {
            var bits = free
            let words = (pageCount + 63) / 64
            if bits.count < words { bits.append(contentsOf: repeatElement(0, count: words - bits.count)) }
            for extents in hanging.values { Self.set(extents, &bits) }
            Self.set(reserved, &bits)
            return bits
        }
    }

    private static func set(_ extents: [Extent], _ bits: inout [UInt64]) {
        for extent in extents {
            for page in Int(extent.page)..<Int(extent.page + extent.pages) {
                bits[page >> 6] |= 1 << UInt64(page & 63)
            }
        }
    }

    /// Takes over the free map that a checkpoint wrote.
    func restore(_ bits: [UInt64]) {
        lock.withLock {
            // Bits behind the contents belong to a tail that was dropped after the map was made.
            free = Array(bits.prefix((pageCount + 63) / 64))
            ensureBits(pageCount)
            if pageCount & 63 != 0 { free[pageCount >> 6] &= (1 << UInt64(pageCount & 63)) - 1 }
            freeCount = free.reduce(0) { $0 + $1.nonzeroBitCount }
            firstFree = 0
        }
    }

    /// Free pages at the end stop being part of the contents.
    /// - Returns: pages of the contents now.
    func dropFreeTail() -> Int {
        lock.withLock {
            var end = pageCount
            while end > Format.firstDataPage, (end - 1) >> 6 < free.count,
                free[(end - 1) >> 6] >> UInt64((end - 1) & 63) & 1 != 0
            {
                end -= 1
            }
            markUsed(end, pageCount - end)
            pageCount = end
            return end
        }
    }

    /// Gives space behind `pages` back to the file system. Only when no durable checkpoint reaches it.
    func cutFile(to pages: Int) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        let capacity = max(pages, pageCount)
        if capacity >= fileCapacity { return }
        limit.pages.store(capacity, ordering: .releasing)
        do { try file.truncate(to: Int64(capacity) * Int64(Format.pageSize)) } catch { throw StorageError(error) }
        fileCapacity = capacity
    }

    /// All dead extents that wait, for the invariant checker.
    func snapshotForCheck() -> (free: [UInt64], hanging: [Extent], pageCount: Int) {
        lock.withLock { (free, hanging.values.flatMap { $0 }, pageCount) }
    }
}

/// How a file grows when its contents pass its end.
package enum GrowthPolicy: Sendable, Equatable {
    /// Twice as large until `upTo`, in bytes, then by `thenBy` more.
    case doubling(upTo: Int, thenBy: Int)
    /// By the same number of bytes each time.
    case fixed(Int)
    /// By a share of the size.
    case percent(Int)

    package static var standard: GrowthPolicy { .doubling(upTo: 1 << 20, thenBy: 1 << 20) }

    /// Pages to have room for, at least `needed`.
    func capacity(for needed: Int, current: Int) -> Int {
        let page = Format.pageSize
        let bytes = current * page
        let grown =
            switch self {
            case .doubling(let limit, let step): bytes < limit ? bytes * 2 : bytes + step
            case .fixed(let step): bytes + step
            case .percent(let share): bytes + bytes * share / 100
            }
        return max(needed, (grown + page - 1) / page)
    }
}
