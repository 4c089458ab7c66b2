/// Going on with what another process knew.
extension PageAllocator {
    /// Dead extents that older versions still need.
    var held: [Extent] { lock.withLock { hanging } }

    /// Forgets everything; the map of the last checkpoint is to be opened next. The write gate is held.
    /// - Parameter versions: protected from now on, each as often as it is named.
    func restart(pageCount: Int, fileCapacity: Int, protecting versions: [UInt64]) {
        lock.withLock {
            regions = []
            root = FreeMapRootPlaces()
            isMapOpen = false
            retired = []
            freeCount = 0
            protection.removeAll()
            hangingPages = 0
            self.pageCount = pageCount
            self.fileCapacity = fileCapacity
            // Also lower than before: the process that wrote meanwhile may have cut the file.
            limit.pages.store(fileCapacity, ordering: .releasing)
            for version in versions { protectLocked(version) }
        }
    }

    /// Keeps pages that the map calls free for the versions that need them. The map is open.
    /// - Throws: `corrupt` when they are not part of the contents.
    func hold(_ extents: [Extent]) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for extent in extents {
            let end = Int(extent.page) + Int(extent.pages)
            guard Int(extent.page) >= Format.firstDataPage, extent.pages > 0, end <= pageCount else {
                throw .corrupt(page: PageNumber(extent.page), offset: 0, reason: .structure)
            }
            for index in Int(extent.page) / SpaceRegion.pages...(end - 1) / SpaceRegion.pages { try load(index) }
        }
        for extent in extents {
            markUsed(extent.range)
            place(extent)
        }
    }

    /// Keeps all pages that the last checkpoint does not reach, up to the end of the file, for whoever may read a
    /// version older than `freed`. The map is open.
    /// - Complexity: O(pages of the file).
    func holdAll(upTo end: Int, freed: UInt64) throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        var extents: [Extent] = []
        for index in regions.indices {
            try load(index)
            let pages = min(SpaceRegion.pages, pageCount - index * SpaceRegion.pages)
            var first: Int?
            for page in 0...pages {
                if page < pages && regions[index].isFree(page) {
                    if first == nil { first = page }
                } else if let start = first {
                    extents.append(
                        Extent(
                            page: UInt32(index * SpaceRegion.pages + start), pages: UInt32(page - start), birth: 0,
                            freed: freed))
                    first = nil
                }
            }
        }
        for extent in extents { markUsed(extent.range) }
        if end > pageCount {
            let start = pageCount
            pageCount = end
            // Places of the map for what is new stand behind it: anything else may be read.
            do throws(StorageError) { _ = try extend(by: 0, true) } catch {
                pageCount = start
                throw error
            }
            forEachPart(start..<end) { $0.setUnreached($1, true) }
            extents.append(Extent(page: UInt32(start), pages: UInt32(end - start), birth: 0, freed: freed))
        }
        for extent in extents { place(extent) }
    }
}
