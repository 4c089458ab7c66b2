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
/// Concurrency: guarded by its lock, which every call takes. The map's places, whether it is open, and which pages are
/// unreached change under the write gate alone.
final class PageAllocator {
    private let lock: any Monitor
    private let reader: PageReader
    /// The free map: which pages are free, and where the map itself stands.
    @exclusivity(unchecked) private(set) var space: SpaceMap
    @exclusivity(unchecked) private var protections = Protections()
    /// How long the file is.
    @exclusivity(unchecked) private var room: FileRoom

    init(
        lock: any Monitor, map: PageMap, file: any File, growth: GrowthPolicy, pageCount: Int, fileCapacity: Int
    ) {
        self.lock = lock
        reader = PageReader(map)
        space = SpaceMap(reader, pageCount: pageCount)
        room = FileRoom(file, growth, map, capacity: fileCapacity)
    }

    /// Takes over what the last checkpoint wrote.
    /// - Throws: `corrupt`.
    func openMap(_ reference: NodeReference) throws(StorageError) {
        // Changes under the write gate alone, which the caller has.
        if space.isOpen { return }
        lock.lock()
        defer { lock.unlock() }
        try space.open(reference)
    }

    // MARK: Protection

    /// Protects a version from now on. The caller guarantees that it is protected by something else at the moment.
    func protect(_ version: UInt64) { lock.withLock { protections.protect(version) } }

    func unprotect(_ version: UInt64) { lock.withLock { unprotectLocked(version) } }

    private func unprotectLocked(_ version: UInt64) {
        for extent in protections.unprotect(version) { place(extent) }
    }

    /// The oldest version that anything protects, for reports.
    var oldestProtected: UInt64? { lock.withLock { protections.oldest } }

    /// Keeps a dead extent for the versions that reach it; without any, it is free.
    private func place(_ extent: Extent) {
        #if Zoo
            if PlantedMistake.pinIgnored.isPlanted { return space.regions.markFree(extent.range) }
        #endif
        if !protections.hang(extent) { space.regions.markFree(extent.range) }
    }

    // MARK: Births and deaths

    /// Sees that giving these pages up later cannot fail.
    /// - Throws: `corrupt` when they cannot be part of a version.
    func prepare(_ extents: [Extent]) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for extent in extents {
            try check(extent)
            // Two parents lead to it, or the map is wrong: it must not be given up twice.
            if space.regions.isUnreached(Int(extent.page)) {
                throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
            }
        }
    }

    /// Sees that an extent is part of the contents, and its regions are loaded.
    private func check(_ extent: Extent) throws(StorageError) {
        let isWithin = extent.range.upperBound <= space.regions.pageCount
        guard Int(extent.page) >= Format.firstDataPage, extent.pages > 0, isWithin else {
            throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
        }
        try space.regions.load(extent.range)
    }

    /// The transaction is committed: what it placed belongs to the newest version now, and what it replaced does not
    /// any more. The write gate is held.
    /// - Parameter protecting: a version to protect from now on, as ``protect(_:)``.
    func settle(_ nodes: TransactionNodes, protecting version: UInt64? = nil) {
        lock.withLock {
            if let version { protections.protect(version) }
            space.regions.setUnreached(nodes.placed, to: false)
            space.regions.setUnreached(nodes.landed, to: false)
            space.regions.setUnreached(nodes.abandoned, to: true)
            space.regions.setUnreached(nodes.dead, to: true)
        }
    }

    /// Takes ``settle(_:)`` back.
    func unsettle(_ nodes: TransactionNodes) {
        lock.withLock {
            space.regions.setUnreached(nodes.placed, to: true)
            space.regions.setUnreached(nodes.landed, to: true)
            space.regions.setUnreached(nodes.dead, to: false)
        }
    }

    /// Takes what a committed version no longer reaches.
    /// - Parameter unprotecting: versions that lose one protection each, before.
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

    /// Takes pages back that no version ever reached.
    func giveBack(_ extents: [Extent]) {
        if extents.isEmpty { return }
        lock.withLock { for extent in extents { space.regions.markFree(extent.range) } }
    }

    /// Those of some pages that are free and within the contents.
    func free(among pages: Set<UInt32>) -> [UInt32] { lock.withLock { space.regions.free(among: pages) } }

    /// Pages of the contents, free ones, and ones that only older versions use.
    var counts: (pages: Int, free: Int, held: Int) {
        lock.withLock { (space.regions.pageCount, space.regions.freeCount, protections.hangingPages) }
    }

    /// Pages of the contents.
    var usedPages: Int { lock.withLock { space.regions.pageCount } }

    /// Pages that the file has room for.
    /// How far the file goes, and how far what was given out of it: no version has a page behind that.
    var extent: FileExtent { lock.withLock { FileExtent(pages: room.capacity, contents: space.regions.pageCount) } }

    // MARK: Taking pages

    /// One run of pages: a free one that fits well, or the end of the file.
    /// - Parameter usesReserve: the transaction gives up more than it takes.
    /// - Throws: `noSpace` when the disk is full, `corrupt`; nothing has changed then.
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

    /// A free run that ends at or below a page; nil when there is none.
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

    /// Runs that hold nodes of the given sizes, in order: one run where possible, else large ones before the end of
    /// the file; small ones only when there are many.
    /// - Parameter largest: pages of the largest node; no run is shorter.
    /// - Throws: `noSpace` when the disk is full, `corrupt`; nothing has changed then.
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
            // On a full disk every page counts.
            guard case .noSpace = error else { throw error }
            return try takeRuns(pages, largest: largest, smallest: 1, usesReserve)
        }
    }

    /// A run costs a write, and a small commit of five runs takes a third longer than one of a single run.
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

    /// Pages that only a transaction that deletes may use up: what a bounded delete on a full disk writes before the
    /// next checkpoint gives its pages back. The checkpoint itself writes to places that it has already.
    private var reserve: Int { min(max(8, space.regions.pageCount / 32), 64) }

    /// Pages at the end of the file's contents; makes the file longer when they pass its end.
    private func extend(by pages: Int, _ usesReserve: Bool) throws(StorageError) -> Int {
        let growth = try space.growth(by: pages)
        guard growth.end < Int(Format.arenaBit) else { throw .limit(.pages) }
        guard room.canMap(growth.end) else { throw .limit(.addressSpace) }
        try ensureRoom(growth.end, usesReserve)
        return space.grow(growth)
    }

    /// Sees that the file has room for so many pages, and for the reserve beside what is free.
    /// - Parameter taken: free pages that are about to be taken.
    private func ensureRoom(_ end: Int, _ usesReserve: Bool, taken: Int = 0) throws(StorageError) {
        let beyond = max(0, reserve - (space.regions.freeCount - taken))
        try room.ensure(end, beyond: beyond, isOptional: usesReserve)
    }

    /// Pages at the end of the contents that are free, or that the newest committed version does not reach.
    func tail(unreached: Bool) -> Int { lock.withLock { space.regions.tail(unreached: unreached) } }

    /// Gives space behind `pages` and the reserve back to the file system. Only when no durable checkpoint reaches it.
    /// - Parameters:
    ///   - slack: pages that are not worth it.
    ///   - most: pages to cut now.
    /// - Returns: pages that the file has now.
    @discardableResult
    func cutFile(to pages: Int, slack: Int = 0, atMost most: Int = .max) throws(StorageError) -> Int {
        lock.lock()
        defer { lock.unlock() }
        let kept = max(pages, space.regions.pageCount) + max(0, reserve - space.regions.freeCount)
        try room.cut(to: kept, slack: slack, atMost: most)
        return room.capacity
    }

    // MARK: The map of a checkpoint

    /// Drops free pages at the end from the contents, and writes the map nodes that changed, and the root, to the
    /// places that the map before does not use.
    ///
    /// After an error the map before is still the map. The write gate is held, the map is open, and no checkpoint is in
    /// progress.
    /// - Parameter write: writes whole pages from a page on, unsynced.
    /// - Returns: where the map starts, and how many pages the version's contents take.
    /// - Complexity: O(regions), a page per region that changed.
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

    // MARK: Another process

    /// Dead extents that older versions still need.
    var held: [Extent] { lock.withLock { protections.hanging } }

    /// Forgets everything; the map of the last checkpoint is to be opened next. The write gate is held.
    /// - Parameter versions: protected from now on, each as often as it is named.
    func restart(pageCount: Int, fileCapacity: Int, protecting versions: [UInt64]) {
        lock.withLock {
            space = SpaceMap(reader, pageCount: pageCount)
            protections = Protections()
            // Also lower than before: the process that wrote meanwhile may have cut the file.
            room.follow(fileCapacity)
            for version in versions { protections.protect(version) }
        }
    }

    /// Keeps pages that the map calls free for the versions that need them. The map is open.
    /// - Throws: `corrupt` when they are not part of the contents.
    func hold(_ extents: [Extent]) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for extent in extents { try check(extent) }
        for extent in extents {
            space.regions.markUsed(extent.range)
            place(extent)
        }
    }

    /// Keeps all pages that the last checkpoint does not reach, up to the end of the contents, for processes that may
    /// read a version older than `freed`. The map is open.
    /// - Parameter end: behind the last page of any version of the process that died. What follows is given out next.
    /// - Complexity: O(pages up to `end`).
    func holdAll(upTo end: Int, freed: UInt64) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        var runs = try space.regions.freeRuns()
        for run in runs { space.regions.markUsed(run) }
        let start = space.regions.pageCount
        if end > start {
            space.regions.pageCount = end
            // Places of the map for what is new stand behind it: anything else may be read.
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

    /// What the invariant checker compares: free pages, pages that the last committed version does not reach, dead
    /// extents that wait, the map's own.
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
