internal import StrataFiles

/// Allocates pages of the data file. It knows in which version each page was born and which version freed it, and so
/// when no reader can need the page any more.
///
/// Invariants
/// 1. The allocator never allocates a page that a protected version reaches. Protected versions: pinned ones, those
///    from visible to last committed, the last durable checkpoint, a running checkpoint.
/// 2. Every page is reachable from a protected version, free, part of the map, or reserved by the open transaction;
///    never two of these.
/// 3. A page born in b and freed in f is free when no protected version v has b <= v < f. A dead extent is attached to
///    the newest such version; when that one's protection ends, it moves to the next one or becomes free.
/// 4. Free pages and room at the end of the file are together at least the reserve, unless a transaction that only
///    deletes has used it.
///
/// Concurrency: guarded by its lock, which every call takes. These change only while the caller holds the write gate,
/// too: the map's places, whether the map is open, and the unreached pages.
final class PageAllocator {
    private let lock: any Monitor
    private let reader: PageReader
    /// The free map: free pages, and the map's own places.
    @exclusivity(unchecked) private(set) var space: SpaceMap
    @exclusivity(unchecked) private var protections = Protections()
    /// The size of the file.
    @exclusivity(unchecked) private var room: FileRoom

    init(
        lock: any Monitor, map: PageMap, file: any File, growth: GrowthPolicy, pageCount: Int, fileCapacity: Int
    ) {
        self.lock = lock
        reader = PageReader(map)
        space = SpaceMap(reader, pageCount: pageCount)
        room = FileRoom(file, growth, map, capacity: fileCapacity)
    }

    /// Opens the map that the last checkpoint wrote.
    /// - Throws: `corrupt`.
    func openMap(_ reference: NodeReference) throws(StorageError) {
        // No lock is needed: `isOpen` changes only under the write gate, which the caller holds.
        if space.isOpen { return }
        lock.lock()
        defer { lock.unlock() }
        try space.open(reference)
    }

    // MARK: Protection

    /// Adds a protection of a version. The caller guarantees that the version is protected already, by a pin or
    /// otherwise.
    func protect(_ version: UInt64) { lock.withLock { protections.protect(version) } }

    func unprotect(_ version: UInt64) { lock.withLock { unprotectLocked(version) } }

    private func unprotectLocked(_ version: UInt64) {
        for extent in protections.unprotect(version) { place(extent) }
    }

    /// The oldest protected version, for reports.
    var oldestProtected: UInt64? { lock.withLock { protections.oldest } }

    /// Attaches a dead extent to a protected version that reaches it, or frees it if there is none.
    private func place(_ extent: Extent) {
        #if Zoo
            if PlantedMistake.pinIgnored.isPlanted { return space.regions.markFree(extent.range) }
        #endif
        if !protections.hang(extent) { space.regions.markFree(extent.range) }
    }

    // MARK: Births and deaths

    /// Checks extents, so that freeing them later cannot fail.
    /// - Throws: `corrupt` if they cannot be part of a version.
    func prepare(_ extents: [Extent]) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for extent in extents {
            try check(extent)
            // The newest version does not reach these pages any more, so they would be freed twice: two parents
            // reference them, or the map is wrong.
            if space.regions.isUnreached(Int(extent.page)) {
                throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
            }
        }
    }

    /// Checks that an extent lies in the contents, and loads its regions.
    private func check(_ extent: Extent) throws(StorageError) {
        let isWithin = extent.range.upperBound <= space.regions.pageCount
        guard Int(extent.page) >= Format.firstDataPage, extent.pages > 0, isWithin else {
            throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
        }
        try space.regions.load(extent.range)
    }

    /// Notes the commit of a transaction: the newest version reaches its placed nodes now, and no longer reaches those
    /// that it replaced. The caller holds the write gate.
    /// - Parameter version: a version to protect, as ``protect(_:)`` does.
    func settle(_ nodes: TransactionNodes, protecting version: UInt64? = nil) {
        lock.withLock {
            if let version { protections.protect(version) }
            space.regions.setUnreached(nodes.placed, to: false)
            space.regions.setUnreached(nodes.landed, to: false)
            space.regions.setUnreached(nodes.abandoned, to: true)
            space.regions.setUnreached(nodes.dead, to: true)
        }
    }

    /// Reverts ``settle(_:protecting:)`` after the commit failed, except for the protection.
    func unsettle(_ nodes: TransactionNodes) {
        lock.withLock {
            space.regions.setUnreached(nodes.placed, to: true)
            space.regions.setUnreached(nodes.landed, to: true)
            space.regions.setUnreached(nodes.dead, to: false)
        }
    }

    /// Takes the extents that a committed version no longer reaches: each becomes free once no protected version
    /// needs it.
    /// - Parameters:
    ///   - freed: the first version that does not reach `extents`.
    ///   - abandoned: extents that no version ever reached; they are free at once.
    ///   - unprotecting: versions that lose one protection each, before the extents are placed.
    func bury(_ extents: [Extent], freed: UInt64, abandoned: [Extent] = [], unprotecting: SupersededVersions? = nil) {
        lock.withLock {
            unprotecting?.forEach(unprotectLocked)
            for var extent in extents {
                extent.freed = freed
                place(extent)
            }
            for extent in abandoned { space.regions.markFree(extent.range) }
        }
    }

    /// Frees pages that no version ever reached.
    func giveBack(_ extents: [Extent]) {
        if extents.isEmpty { return }
        lock.withLock { for extent in extents { space.regions.markFree(extent.range) } }
    }

    /// The given pages that are free and within the contents.
    func free(among pages: Set<UInt32>) -> [UInt32] { lock.withLock { space.regions.free(among: pages) } }

    /// Numbers of pages of the contents, of free pages, and of pages that only older versions use.
    var counts: (pages: Int, free: Int, held: Int) {
        lock.withLock { (space.regions.pageCount, space.regions.freeCount, protections.hangingPages) }
    }

    /// Pages of the contents.
    var usedPages: Int { lock.withLock { space.regions.pageCount } }

    /// Size of the file, and the end of all allocated pages: no version has a page behind it.
    var extent: FileExtent { lock.withLock { FileExtent(pages: room.capacity, contents: space.regions.pageCount) } }

    // MARK: Taking pages

    /// Allocates one run of pages: a free one that fits well, or the end of the file.
    /// - Parameter usesReserve: the transaction has added nothing yet, so it may take the reserve.
    /// - Throws: `noSpace` on a full disk, `corrupt`; the state is unchanged then.
    func allocateRun(_ pages: Int, usesReserve: Bool = false) throws(StorageError) -> UInt32 {
        lock.lock()
        defer { lock.unlock() }
        if let found = try space.regions.bestRun(pages) {
            try ensureRoom(space.regions.pageCount, usesReserve, taken: pages)
            space.regions.markUsed(found..<(found + pages))
            return UInt32(found)
        }
        return UInt32(try extend(by: pages, usesReserve))
    }

    /// Allocates a free run that ends at or below a page; nil if there is none.
    /// - Throws: as ``allocateRun(_:usesReserve:)``.
    func allocateRun(
        _ pages: Int, below limit: Int, usesReserve: Bool = false
    ) throws(StorageError) -> UInt32? {
        lock.lock()
        defer { lock.unlock() }
        guard let found = try space.regions.bestRun(pages, below: limit) else { return nil }
        try ensureRoom(space.regions.pageCount, usesReserve, taken: pages)
        space.regions.markUsed(found..<(found + pages))
        return UInt32(found)
    }

    /// Allocates runs for nodes of the given sizes, in order: one run if possible, else long free runs before the end
    /// of the file; short ones only if there are many.
    /// - Parameter largest: pages of the largest node; no run is shorter.
    /// - Throws: `noSpace` on a full disk, `corrupt`; the state is unchanged then.
    /// - Complexity: O(regions + runs taken), whatever the number of free runs.
    func allocate(_ pages: Int, largest: Int, usesReserve: Bool = false) throws(StorageError) -> [Range<Int>] {
        lock.lock()
        defer { lock.unlock() }
        if let found = try space.regions.bestRun(pages) {
            try ensureRoom(space.regions.pageCount, usesReserve, taken: pages)
            space.regions.markUsed(found..<(found + pages))
            return [found..<(found + pages)]
        }
        do throws(StorageError) {
            return try takeRuns(pages, largest: largest, smallest: smallestRun(for: pages), usesReserve)
        } catch {
            // On a full disk the transaction takes short runs, too.
            guard case .noSpace = error else { throw error }
            return try takeRuns(pages, largest: largest, smallest: 1, usesReserve)
        }
    }

    /// Shortest run worth a write: a small commit of five runs takes a third longer than one of a single run.
    private func smallestRun(for pages: Int) -> Int {
        let (pageCount, freeCount) = (space.regions.pageCount, space.regions.freeCount)
        if freeCount * 50 <= pageCount { return 8 }
        return pages <= 16 && freeCount * 8 <= pageCount ? 4 : 1
    }

    private func takeRuns(
        _ pages: Int, largest: Int, smallest: Int, _ usesReserve: Bool
    ) throws(StorageError) -> [Range<Int>] {
        var chosen: [Range<Int>] = []
        var need = pages
        for size in [SpaceRegion.blockPages, 64, 8, 4, 2, 1]
        where size >= smallest && need > 0 && space.regions.freeCount > 0 {
            try space.regions.takeRuns(&need, atLeast: max(size, largest), largest, &chosen)
        }
        do throws(StorageError) {
            if need > 0 {
                let count = need + (chosen.isEmpty ? 0 : largest - 1)
                let start = try extend(by: count, usesReserve)
                chosen.append(start..<(start + count))
            } else {
                try ensureRoom(space.regions.pageCount, usesReserve)
            }
        } catch {
            for run in chosen { space.regions.markFree(run) }
            throw error
        }
        if chosen.count > 1 { mark(.manyRuns) }
        return chosen
    }

    // MARK: The end of the file

    /// Pages kept for transactions that delete. On a full disk such a transaction still needs pages for the nodes that
    /// it changes, before the next checkpoint frees the old ones; a bounded delete writes at most this many. The
    /// checkpoint needs none: its free map goes to places that it already has.
    private var reserve: Int { min(max(8, space.regions.pageCount / 32), 64) }

    /// Allocates pages at the end of the contents; grows the file if necessary.
    private func extend(by pages: Int, _ usesReserve: Bool) throws(StorageError) -> Int {
        let growth = try space.growth(by: pages)
        guard growth.end < Int(Format.arenaBit) else { throw .limit(.pages) }
        guard room.canMap(growth.end) else { throw .limit(.addressSpace) }
        try ensureRoom(growth.end, usesReserve)
        return space.grow(growth)
    }

    /// Grows the file for this many pages, and for the part of the reserve that free pages do not cover.
    /// - Parameter taken: free pages that are about to be allocated.
    private func ensureRoom(_ end: Int, _ usesReserve: Bool, taken: Int = 0) throws(StorageError) {
        let beyond = max(0, reserve - (space.regions.freeCount - taken))
        try room.ensure(end, beyond: beyond, isOptional: usesReserve)
    }

    /// Pages at the end of the contents that are free, or that the newest committed version does not reach.
    func tail(unreached: Bool) -> Int { lock.withLock { space.regions.tail(unreached: unreached) } }

    /// Truncates the file behind `pages` and the reserve. No durable checkpoint may reach that part.
    /// - Parameters:
    ///   - slack: unused pages to leave.
    ///   - most: pages to cut at most.
    /// - Returns: the file's size in pages.
    @discardableResult
    func cutFile(to pages: Int, slack: Int = 0, atMost most: Int = .max) throws(StorageError) -> Int {
        lock.lock()
        defer { lock.unlock() }
        let kept = max(pages, space.regions.pageCount) + max(0, reserve - space.regions.freeCount)
        try room.cut(to: kept, slack: slack, atMost: most)
        return room.capacity
    }

    // MARK: The map of a checkpoint

    /// Drops free pages at the end from the contents, and writes the changed map nodes and the root to the places that
    /// the previous map does not use.
    ///
    /// After an error the previous map stays in force. The caller holds the write gate, the map is open, and no
    /// checkpoint is running.
    /// - Parameter write: writes whole pages at a page number, unsynced.
    /// - Returns: the map's root, and the pages of the version's contents.
    /// - Complexity: O(regions), and a page per changed region.
    func writeMap(
        _ version: UInt64, by write: (UnsafeRawBufferPointer, Int) throws(StorageError) -> Void
    ) throws(StorageError) -> (map: NodeReference, pageCount: Int) {
        let (trimmed, changed) = try trim()
        let written = try FreeMapWriting(trimmed, reader, version).run(changed, by: write)
        let gone = lock.withLock { space.adopt(written) }
        bury(gone, freed: version)
        return lock.withLock { (space.reference, space.regions.pageCount) }
    }

    /// - Returns: the map, and the regions whose nodes are to be written.
    private func trim() throws(StorageError) -> (SpaceMap, changed: [Int]) {
        lock.lock()
        defer { lock.unlock() }
        try space.trim()
        let changed = space.beginWriting()
        return (space, changed)
    }

    // MARK: Other processes

    /// Dead extents that older versions still need.
    var held: [Extent] { lock.withLock { protections.hanging } }

    /// Forgets the map and all protections, because another process has allocated meanwhile. The caller, which holds
    /// the write gate, then opens the last checkpoint's map.
    /// - Parameter versions: versions to protect, each as often as it is listed.
    func restart(pageCount: Int, fileCapacity: Int, protecting versions: [UInt64]) {
        lock.withLock {
            space = SpaceMap(reader, pageCount: pageCount)
            protections = Protections()
            // The file may be smaller than this process knew it: another process may have truncated it.
            room.follow(fileCapacity)
            for version in versions { protections.protect(version) }
        }
    }

    /// Withholds pages that the map counts as free until no protected version needs them. The map is open.
    /// - Throws: `corrupt` if they are not part of the contents.
    func hold(_ extents: [Extent]) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for extent in extents { try check(extent) }
        for extent in extents {
            space.regions.markUsed(extent.range)
            place(extent)
        }
    }

    /// Withholds all pages up to `end` that the last checkpoint does not reach, while processes may read a version
    /// older than `freed`. The map is open.
    /// - Parameter end: end of the pages of all versions of the process that died. Allocation continues there.
    /// - Complexity: O(pages up to `end`).
    func holdAll(upTo end: Int, freed: UInt64) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        var runs = try space.regions.freeRuns()
        for run in runs { space.regions.markUsed(run) }
        let start = space.regions.pageCount
        if end > start {
            space.regions.pageCount = end
            // New places of the map are allocated behind the held pages, which other processes may read.
            do throws(StorageError) { _ = try extend(by: 0, true) } catch {
                space.regions.pageCount = start
                throw error
            }
            space.regions.setUnreached(start..<end, to: true)
            runs.append(start..<end)
        }
        for run in runs {
            var extent = Extent(run, birth: 0)
            extent.freed = freed
            place(extent)
        }
    }

    // MARK: Checks

    /// State for the invariant checker: free pages, pages that the last committed version does not reach, attached dead
    /// extents, pages of the map.
    func snapshotForCheck() throws(StorageError) -> (
        free: [Bool], unreached: [Bool], hanging: [Extent], map: [Extent], pageCount: Int
    ) {
        lock.lock()
        defer { lock.unlock() }
        for index in space.regions.indices { try space.regions.load(index) }
        let regions = space.regions
        let known = regions.count * SpaceRegion.pages
        let pages = 0..<regions.pageCount
        return (
            pages.map { $0 < known && regions.isFree($0) }, pages.map { $0 < known && regions.isUnreached($0) },
            protections.hanging, space.extents, regions.pageCount
        )
    }
}

extension Extent {
    var range: Range<Int> { Int(page)..<Int(page) + Int(pages) }

    init(_ range: Range<Int>, birth: UInt64) {
        self.init(page: UInt32(range.lowerBound), pages: UInt32(range.count), birth: birth)
    }
}
