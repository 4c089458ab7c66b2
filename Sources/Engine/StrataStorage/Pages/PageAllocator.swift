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
/// Concurrency: every member may be called from any thread. These change only while the caller holds the write gate,
/// too: the map's places, whether the map is open, and the unreached pages.
final class PageAllocator: Sendable {
    private let reader: PageReader
    private let state: Guarded<AllocatorState>

    init(
        lock: any Monitor, map: PageMap, file: any File, growth: GrowthPolicy, pageCount: Int,
        fileCapacity: Int
    ) {
        reader = PageReader(map)
        state = Guarded(
            AllocatorState(
                space: SpaceMap(reader, pageCount: pageCount),
                room: FileRoom(file, growth, map, capacity: fileCapacity)),
            by: lock)
    }

    /// Opens the map that the last checkpoint wrote.
    /// - Throws: `corrupt`.
    func openMap(_ reference: NodeReference) throws(StorageError) {
        try state.withState { (state) throws(StorageError) in
            if !state.space.isOpen { try state.space.open(reference) }
        }
    }

    // MARK: Protection

    /// Adds a protection of a version. The caller guarantees that the version is protected already, by a pin or
    /// otherwise.
    func protect(_ version: UInt64) { state.withState { $0.protections.protect(version) } }

    func unprotect(_ version: UInt64) { state.withState { $0.unprotect(version) } }

    /// The oldest protected version, for reports.
    var oldestProtected: UInt64? { state.withState { $0.protections.oldest } }

    // MARK: Births and deaths

    /// Checks extents, so that freeing them later cannot fail.
    /// - Throws: `corrupt` if they cannot be part of a version.
    func prepare(_ extents: [Extent]) throws(StorageError) {
        try state.withState { (state) throws(StorageError) in
            for extent in extents {
                try state.check(extent)
                // The newest version does not reach these pages any more, so they would be freed twice: two parents
                // reference them, or the map is wrong.
                if state.space.regions.isUnreached(Int(extent.page)) {
                    throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
                }
            }
        }
    }

    /// Notes the commit of a transaction: the newest version reaches its placed nodes now, and no longer reaches those
    /// that it replaced. The caller holds the write gate.
    /// - Parameter version: a version to protect, as ``protect(_:)`` does.
    func settle(_ nodes: TransactionNodes, protecting version: UInt64? = nil) {
        state.withState { state in
            if let version { state.protections.protect(version) }
            state.space.regions.setUnreached(nodes.placed, to: false)
            state.space.regions.setUnreached(nodes.landed, to: false)
            state.space.regions.setUnreached(nodes.abandoned, to: true)
            state.space.regions.setUnreached(nodes.dead, to: true)
        }
    }

    /// Reverts ``settle(_:protecting:)`` after the commit failed, except for the protection.
    func unsettle(_ nodes: TransactionNodes) {
        state.withState { state in
            state.space.regions.setUnreached(nodes.placed, to: true)
            state.space.regions.setUnreached(nodes.landed, to: true)
            state.space.regions.setUnreached(nodes.dead, to: false)
        }
    }

    /// Takes the extents that a committed version no longer reaches: each becomes free once no protected version
    /// needs it.
    /// - Parameters:
    ///   - freed: the first version that does not reach `extents`.
    ///   - abandoned: extents that no version ever reached; they are free at once.
    ///   - unprotecting: versions that lose one protection each, before the extents are placed.
    func bury(
        _ extents: [Extent], freed: UInt64, abandoned: [Extent] = [],
        unprotecting: SupersededVersions? = nil
    ) {
        state.withState { state in
            unprotecting?.forEach { state.unprotect($0) }
            for var extent in extents {
                extent.freed = freed
                state.place(extent)
            }
            for extent in abandoned { state.space.regions.markFree(extent.range) }
        }
    }

    /// Frees pages that no version ever reached.
    func giveBack(_ extents: [Extent]) {
        if extents.isEmpty { return }
        state.withState { for extent in extents { $0.space.regions.markFree(extent.range) } }
    }

    /// The given pages that are free and within the contents.
    func free(among pages: Set<UInt32>) -> [UInt32] {
        state.withState { $0.space.regions.free(among: pages) }
    }

    /// Numbers of pages of the contents, of free pages, and of pages that only older versions use.
    var counts: (pages: Int, free: Int, held: Int) {
        state.withState {
            ($0.space.regions.pageCount, $0.space.regions.freeCount, $0.protections.hangingPages)
        }
    }

    /// The free map, for tests.
    var space: SpaceMap { state.withState { $0.space } }

    /// Pages of the contents.
    var usedPages: Int { state.withState { $0.space.regions.pageCount } }

    /// Size of the file, and the end of all allocated pages: no version has a page behind it.
    var extent: FileExtent { state.withState { $0.extent } }

    // MARK: Taking pages

    /// Allocates one run of pages: a free one that fits well, or the end of the file.
    /// - Parameter usesReserve: the transaction has added nothing yet, so it may take the reserve.
    /// - Throws: `noSpace` on a full disk, `corrupt`; the state is unchanged then.
    func allocateRun(_ pages: Int, usesReserve: Bool = false) throws(StorageError) -> UInt32 {
        try state.withState { (state) throws(StorageError) in
            if let found = try state.space.regions.bestRun(pages) {
                try state.ensureRoom(state.space.regions.pageCount, usesReserve, taken: pages)
                state.space.regions.markUsed(found..<(found + pages))
                return UInt32(found)
            }
            return UInt32(try state.extend(by: pages, usesReserve))
        }
    }

    /// Allocates a free run that ends at or below a page; nil if there is none.
    /// - Throws: as ``allocateRun(_:usesReserve:)``.
    func allocateRun(
        _ pages: Int, below limit: Int, usesReserve: Bool = false
    ) throws(StorageError) -> UInt32? {
        try state.withState { (state) throws(StorageError) -> UInt32? in
            guard let found = try state.space.regions.bestRun(pages, below: limit) else { return nil }
            try state.ensureRoom(state.space.regions.pageCount, usesReserve, taken: pages)
            state.space.regions.markUsed(found..<(found + pages))
            return UInt32(found)
        }
    }

    /// Allocates runs for nodes of the given sizes, in order: one run if possible, else long free runs before the end
    /// of the file; short ones only if there are many.
    /// - Parameter largest: pages of the largest node; no run is shorter.
    /// - Throws: `noSpace` on a full disk, `corrupt`; the state is unchanged then.
    /// - Complexity: O(regions + runs taken), whatever the number of free runs.
    func allocate(_ pages: Int, largest: Int, usesReserve: Bool = false) throws(StorageError)
        -> [Range<Int>]
    {
        try state.withState { (state) throws(StorageError) in
            if let found = try state.space.regions.bestRun(pages) {
                try state.ensureRoom(state.space.regions.pageCount, usesReserve, taken: pages)
                state.space.regions.markUsed(found..<(found + pages))
                return [found..<(found + pages)]
            }
            do throws(StorageError) {
                return try state.takeRuns(
                    pages, largest: largest, smallest: state.smallestRun(for: pages), usesReserve)
            } catch {
                // On a full disk the transaction takes short runs, too.
                guard case .noSpace = error else { throw error }
                return try state.takeRuns(pages, largest: largest, smallest: 1, usesReserve)
            }
        }
    }

    // MARK: The end of the file

    /// Pages at the end of the contents that are free, or that the newest committed version does not reach.
    func tail(unreached: Bool) -> Int {
        state.withState { $0.space.regions.tail(unreached: unreached) }
    }

    /// Truncates the file behind `pages` and the reserve. No durable checkpoint may reach that part.
    /// - Parameters:
    ///   - slack: unused pages to leave.
    ///   - most: pages to cut at most.
    /// - Returns: the file's size in pages.
    @discardableResult
    func cutFile(to pages: Int, slack: Int = 0, atMost most: Int = .max) throws(StorageError) -> Int {
        try state.withState { (state) throws(StorageError) in
            let kept =
                max(pages, state.space.regions.pageCount)
                + max(0, state.reserve - state.space.regions.freeCount)
            try state.room.cut(to: kept, slack: slack, atMost: most)
            return state.room.capacity
        }
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
        let gone = state.withState { $0.space.adopt(written) }
        bury(gone, freed: version)
        return state.withState { ($0.space.reference, $0.space.regions.pageCount) }
    }

    /// - Returns: the map, and the regions whose nodes are to be written.
    private func trim() throws(StorageError) -> (SpaceMap, changed: [Int]) {
        try state.withState { (state) throws(StorageError) in
            try state.space.trim()
            let changed = state.space.beginWriting()
            return (state.space, changed)
        }
    }

    // MARK: Other processes

    /// Dead extents that older versions still need.
    var held: [Extent] { state.withState { $0.protections.hanging } }

    /// Forgets the map and all protections, because another process has allocated meanwhile. The caller, which holds
    /// the write gate, then opens the last checkpoint's map.
    /// - Parameter versions: versions to protect, each as often as it is listed.
    func restart(pageCount: Int, fileCapacity: Int, protecting versions: [UInt64]) {
        state.withState { state in
            state.space = SpaceMap(reader, pageCount: pageCount)
            state.protections = Protections()
            // The file may be smaller than this process knew it: another process may have truncated it.
            state.room.follow(fileCapacity)
            for version in versions { state.protections.protect(version) }
        }
    }

    /// Withholds pages that the map counts as free until no protected version needs them. The map is open.
    /// - Throws: `corrupt` if they are not part of the contents.
    func hold(_ extents: [Extent]) throws(StorageError) {
        try state.withState { (state) throws(StorageError) in
            for extent in extents { try state.check(extent) }
            for extent in extents {
                state.space.regions.markUsed(extent.range)
                state.place(extent)
            }
        }
    }

    /// Withholds all pages up to `end` that the last checkpoint does not reach, while processes may read a version
    /// older than `freed`. The map is open.
    /// - Parameter end: end of the pages of all versions of the process that died. Allocation continues there.
    /// - Complexity: O(pages up to `end`).
    func holdAll(upTo end: Int, freed: UInt64) throws(StorageError) {
        try state.withState { (state) throws(StorageError) in
            var runs = try state.space.regions.freeRuns()
            for run in runs { state.space.regions.markUsed(run) }
            let start = state.space.regions.pageCount
            if end > start {
                state.space.regions.pageCount = end
                // New places of the map are allocated behind the held pages, which other processes may read.
                do throws(StorageError) { _ = try state.extend(by: 0, true) } catch {
                    state.space.regions.pageCount = start
                    throw error
                }
                state.space.regions.setUnreached(start..<end, to: true)
                runs.append(start..<end)
            }
            for run in runs {
                var extent = Extent(run, birth: 0)
                extent.freed = freed
                state.place(extent)
            }
        }
    }

    // MARK: Checks

    /// State for the invariant checker: free pages, pages that the last committed version does not reach, attached dead
    /// extents, pages of the map.
    func snapshotForCheck() throws(StorageError) -> (
        free: [Bool], unreached: [Bool], hanging: [Extent], map: [Extent], pageCount: Int
    ) {
        try state.withState { (state) throws(StorageError) in
            for index in state.space.regions.indices { try state.space.regions.load(index) }
            let regions = state.space.regions
            let known = regions.count * SpaceRegion.pages
            let pages = 0..<regions.pageCount
            return (
                pages.map { $0 < known && regions.isFree($0) },
                pages.map { $0 < known && regions.isUnreached($0) },
                state.protections.hanging, state.space.extents, regions.pageCount
            )
        }
    }
}

extension Extent {
    var range: Range<Int> { Int(page)..<Int(page) + Int(pages) }

    init(_ range: Range<Int>, birth: UInt64) {
        self.init(page: UInt32(range.lowerBound), pages: UInt32(range.count), birth: birth)
    }
}
