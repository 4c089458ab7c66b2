internal import StrataFiles

/// Which pages may be written, by the rule of birth and death.
///
/// Invariants
/// 1. A page that a protected version reaches is never handed out. Protected: pinned, from visible to last committed,
///    the last durable checkpoint, a checkpoint in progress.
/// 2. Every page is reachable from a protected version, free, one of the map's, or reserved by the open transaction;
///    never two of them.
/// 3. A page born in b and freed in f is free when no protected version v has b <= v < f. A dead extent hangs on the
///    newest such version; when that one goes, it moves to the next or becomes free.
/// 4. Free pages and room at the end of the file are together at least the reserve, unless a transaction that only
///    deletes has used it.
///
/// Concurrency: guarded by its lock, which every call takes. `regions`, `root`, `isMapOpen` and which pages are
/// unreached change under the write gate alone.
final class PageAllocator {
    let lock: any Monitor
    let file: any File
    let reader: PageReader
    let growth: GrowthPolicy
    @exclusivity(unchecked) var regions: [SpaceRegion] = []
    @exclusivity(unchecked) var root = FreeMapRootPlaces()
    @exclusivity(unchecked) var isMapOpen = false
    /// Pages of the map that the next checkpoint's map does not use any more.
    @exclusivity(unchecked) var retired: [Extent] = []
    @exclusivity(unchecked) var freeCount = 0
    /// Pages that the file's contents take, free ones among them.
    @exclusivity(unchecked) var pageCount: Int
    /// Pages that the file has room for.
    @exclusivity(unchecked) var fileCapacity: Int
    let limit: PageLimit
    let maxPages: Int

    /// Protected versions, with the extents that hang on them.
    @exclusivity(unchecked) var protection = VersionMap<Protection>()
    @exclusivity(unchecked) var hangingPages = 0

    struct Protection {
        /// Pins and other protections.
        var count = 1
        var dead: [Extent] = []
    }

    init(
        lock: any Monitor, map: PageMap, file: any File, growth: GrowthPolicy, pageCount: Int, fileCapacity: Int
    ) {
        self.lock = lock
        self.file = file
        self.growth = growth
        self.pageCount = pageCount
        self.fileCapacity = fileCapacity
        reader = PageReader(map)
        limit = map.limit
        maxPages = map.capacity
        limit.pages.store(fileCapacity, ordering: .releasing)
    }

    // MARK: Protection

    /// Protects a version from now on. The caller guarantees that it is protected by something else at the moment.
    func protect(_ version: UInt64) { lock.withLock { protectLocked(version) } }

    func unprotect(_ version: UInt64) { lock.withLock { unprotectLocked(version) } }

    func protectLocked(_ version: UInt64) {
        let index = protection.index(of: version)
        if protection.holds(version, at: index) {
            protection.values[index].count += 1
        } else {
            protection.insert(Protection(), for: version, at: index)
        }
    }

    private func unprotectLocked(_ version: UInt64) {
        let index = protection.index(of: version)
        guard protection.holds(version, at: index) else { return }
        if protection.values[index].count > 1 {
            protection.values[index].count -= 1
            return
        }
        for extent in protection.remove(at: index).dead {
            hangingPages -= Int(extent.pages)
            place(extent)
        }
    }

    /// The oldest version that anything protects, for reports.
    var oldestProtected: UInt64? { lock.withLock { protection.versions.first } }

    func place(_ extent: Extent) {
        let index = protection.index(of: extent.freed) - 1
        if index >= 0 && protection.versions[index] >= extent.birth {
            protection.values[index].dead.append(extent)
            hangingPages += Int(extent.pages)
            if protection.count > 2 { mark(.heldByPin) }
        } else {
            markFree(extent)
        }
    }

    /// Dead extents that protected versions still need. The lock is held.
    var hanging: [Extent] { protection.values.flatMap(\.dead) }

    // MARK: Births and deaths

    /// Sees that giving these pages up later cannot fail.
    /// - Throws: `corrupt` when they cannot be part of a version.
    func prepare(_ extents: [Extent]) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for extent in extents {
            let end = Int(extent.page) + Int(extent.pages)
            guard Int(extent.page) >= Format.firstDataPage, end <= pageCount, extent.pages > 0 else {
                throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
            }
            for index in Int(extent.page) / SpaceRegion.pages...(end - 1) / SpaceRegion.pages { try load(index) }
            let (region, page) = Int(extent.page).quotientAndRemainder(dividingBy: SpaceRegion.pages)
            // Two parents lead to it, or the map is wrong: it must not be given up twice.
            if regions[region].isUnreached(page) {
                throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
            }
        }
    }

    /// Lets the newest committed version reach what it was born with and not what it gave up. The write gate is held.
    /// - Parameter protecting: a version to protect from now on, as ``protect(_:)``.
    func settle(_ nodes: TransactionNodes, protecting version: UInt64? = nil) {
        lock.withLock {
            if let version { protectLocked(version) }
            setUnreached(nodes.placed, to: false)
            setUnreached(nodes.landed, to: false)
            setUnreached(nodes.abandoned, to: true)
            setUnreached(nodes.dead, to: true)
        }
    }

    /// Takes ``settle(_:)`` back.
    func unsettle(_ nodes: TransactionNodes) {
        lock.withLock {
            setUnreached(nodes.placed, to: true)
            setUnreached(nodes.landed, to: true)
            setUnreached(nodes.dead, to: false)
        }
    }

    /// Takes what a committed version no longer reaches.
    /// - Parameter unprotecting: versions that lose one protection each, before.
    func bury(_ extents: [Extent], freed: UInt64, abandoned: [Extent] = [], unprotecting: [UInt64] = []) {
        lock.withLock {
            for version in unprotecting { unprotectLocked(version) }
            for var extent in extents {
                extent.freed = freed
                place(extent)
            }
            for extent in abandoned { markFree(extent) }
        }
    }

    /// Takes pages back that no version ever reached.
    func giveBack(_ extents: [Extent]) {
        if extents.isEmpty { return }
        lock.withLock { for extent in extents { markFree(extent) } }
    }

    /// Those of some pages that are free and within the contents.
    func free(among pages: Set<UInt32>) -> [UInt32] {
        lock.withLock {
            pages.sorted().filter { page in
                let (region, inside) = Int(page).quotientAndRemainder(dividingBy: SpaceRegion.pages)
                return Int(page) < pageCount && regions[region].isFree(inside)
            }
        }
    }

    /// Pages of the contents, free ones, and ones that only older versions use.
    var counts: (pages: Int, free: Int, held: Int) { lock.withLock { (pageCount, freeCount, hangingPages) } }

    /// Pages of the contents.
    var usedPages: Int { lock.withLock { pageCount } }

    // MARK: Sets of pages

    /// Hands over the parts of a run that lie in one region each.
    func forEachPart(_ run: Range<Int>, _ body: (SpaceRegion, Range<Int>) -> Void) {
        var page = run.lowerBound
        while page < run.upperBound {
            let (index, first) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
            let count = min(SpaceRegion.pages - first, run.upperBound - page)
            body(regions[index], first..<(first + count))
            page += count
        }
    }

    func setUnreached(_ extents: [Extent], to isUnreached: Bool) {
        for extent in extents { forEachPart(extent.range) { $0.setUnreached($1, isUnreached) } }
    }

    private func markFree(_ extent: Extent) { forEachPart(extent.range) { freeCount += $0.markFree($1) } }

    func markUsed(_ run: Range<Int>) { forEachPart(run) { freeCount -= $0.markUsed($1) } }

    // MARK: Checks

    /// What the invariant checker compares: free pages, pages that the last committed version does not reach, dead
    /// extents that wait, the map's own.
    func snapshotForCheck() throws(StorageError) -> (
        free: [Bool], unreached: [Bool], hanging: [Extent], map: [Extent], pageCount: Int
    ) {
        lock.lock()
        defer { lock.unlock() }
        for index in regions.indices { try load(index) }
        var free: [Bool] = []
        var unreached: [Bool] = []
        for page in 0..<pageCount {
            let (region, index) = page.quotientAndRemainder(dividingBy: SpaceRegion.pages)
            free.append(region < regions.count && regions[region].isFree(index))
            unreached.append(region < regions.count && regions[region].isUnreached(index))
        }
        return (free, unreached, hanging, mapExtents, pageCount)
    }
}

extension Extent {
    var range: Range<Int> { Int(page)..<Int(page) + Int(pages) }

    init(_ range: Range<Int>, birth: UInt64) {
        self.init(page: UInt32(range.lowerBound), pages: UInt32(range.count), birth: birth)
    }
}
