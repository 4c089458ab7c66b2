internal import StrataFiles

extension PageAllocator {
    /// Pages that only a transaction that deletes may use up: what a bounded delete on a full disk writes before the
    /// next checkpoint gives its pages back. The checkpoint itself writes to places that it has already.
    var reserve: Int { min(max(8, pageCount / 32), 64) }

    /// Pages at the end of the file's contents; makes the file longer when they pass its end.
    ///
    /// The first pages of a region come with the two places of its map node.
    func extend(by pages: Int, _ usesReserve: Bool) throws(StorageError) -> Int {
        // What is noted of a region that was not read is lost.
        if !regions.isEmpty { try load(regions.count - 1) }
        var extra = 0
        var count = 0
        var rootPages = 0
        while true {
            count = (pageCount + extra + pages + SpaceRegion.pages - 1) / SpaceRegion.pages
            rootPages = count > 1 && FreeMapRoot.pages(count) > root.pages ? FreeMapRoot.pages(count) : 0
            let needed = 2 * (count - regions.count) + 2 * rootPages
            if needed == extra { break }
            extra = needed
        }
        let start = pageCount
        let end = start + extra + pages
        guard end <= maxPages, end < Int(Format.arenaBit) else { throw .limit(.pages) }
        try ensureRoom(end, usesReserve)
        pageCount = end
        var next = UInt32(start)
        if rootPages > 0 {
            retired += root.extents
            root = FreeMapRootPlaces(
                reference: .null, place: next, spare: next + UInt32(rootPages), pages: rootPages)
            next += 2 * UInt32(rootPages)
        }
        while regions.count < count {
            regions.append(SpaceRegion(place: next, spare: next + 1))
            next += 2
        }
        let run = Int(next)..<end
        forEachPart(run) { $0.setUnreached($1, true) }
        return run.lowerBound
    }

    /// Sees that the file has room for so many pages, and for the reserve beside what is free.
    /// - Parameter taken: free pages that are about to be taken.
    func ensureRoom(_ end: Int, _ usesReserve: Bool, taken: Int = 0) throws(StorageError) {
        let wanted = min(end + max(0, reserve - (freeCount - taken)), maxPages)
        if wanted <= fileCapacity { return }
        let planned = min(growth.capacity(for: wanted, current: fileCapacity), maxPages)
        var sizes = [planned]
        // The policy's step may not fit where what is needed does.
        if planned > wanted { sizes.append(wanted) }
        if usesReserve && wanted > end { sizes.append(end) }
        var failure: StorageError?
        for size in sizes {
            if size <= fileCapacity { return }
            do throws(FileError) {
                try file.preallocate(to: Int64(size) * Int64(Format.pageSize))
                fileCapacity = size
                limit.pages.store(size, ordering: .releasing)
                if size != planned { mark(.smallerGrowth) }
                return
            } catch {
                guard error.isNoSpace else { throw StorageError(error) }
                failure = StorageError(error)
            }
        }
        if let failure { throw failure }
    }

    // MARK: The end of the file

    /// Drops free pages at the end from the contents, and moves the map's places out of the way.
    ///
    /// The write gate is held, no checkpoint is in progress.
    func trim() throws(StorageError) {
        lock.lock()
        defer { lock.unlock() }
        for _ in 0..<8 {
            try dropTail()
            dropRegions()
            if try !moveLastPlace() { break }
        }
    }

    /// Pages at the end of the contents that are free, or that the newest committed version does not reach.
    func tail(unreached: Bool) -> Int {
        lock.withLock {
            var page = pageCount
            while page > Format.firstDataPage {
                let (index, inside) = (page - 1).quotientAndRemainder(dividingBy: SpaceRegion.pages)
                let region = regions[index]
                if unreached ? !region.isUnreached(inside) : !region.isFree(inside) { break }
                page -= 1
            }
            return pageCount - page
        }
    }

    private func dropTail() throws(StorageError) {
        while pageCount > Format.firstDataPage, let last = regions.indices.last {
            if regions[last].longest == 0 { return }
            try load(last)
            let (index, page) = (pageCount - 1).quotientAndRemainder(dividingBy: SpaceRegion.pages)
            guard index == last, regions[index].isFree(page) else { return }
            let start = regions[index].start(of: page + 1)
            let run = (index * SpaceRegion.pages + start)..<pageCount
            markUsed(run)
            forEachPart(run) { $0.setUnreached($1, false) }
            pageCount = run.lowerBound
            mark(.droppedTail)
            dropRegions()
        }
    }

    /// Gives up the nodes of regions that the contents do not reach any more.
    private func dropRegions() {
        let count = (pageCount + SpaceRegion.pages - 1) / SpaceRegion.pages
        while regions.count > max(count, 1), let last = regions.popLast() {
            freeCount -= last.freeCount
            retired += [last.place, last.spare].map { Extent(page: $0, pages: 1, birth: last.reference.birth) }
        }
        if count == 1 && root.pages > 0 {
            retired += root.extents
            root = FreeMapRootPlaces()
        }
    }

    /// Where the contents end with a place of the map, takes one further down, if there is a free one.
    /// - Returns: whether the end is free now.
    private func moveLastPlace() throws(StorageError) -> Bool {
        let last = UInt32(pageCount - 1)
        var isMoved = false
        if root.pages > 0, root.extents.contains(where: { $0.range.contains(Int(last)) }),
            let page = try bestRun(root.pages, below: Int(min(root.place, root.spare)))
        {
            isMoved = Int(root.spare) + root.pages > Int(last)
            replace(root.spare, by: UInt32(page), pages: root.pages)
            root.spare = UInt32(page)
        }
        for index in regions.indices where regions[index].place == last || regions[index].spare == last {
            try load(index)
            // The node in force can only move by being written.
            regions[index].isChanged = true
            guard regions[index].spare == last || regions[index].spare + 1 == last,
                let page = try bestRun(1, below: Int(last) - 1)
            else { continue }
            replace(regions[index].spare, by: UInt32(page), pages: 1)
            isMoved = regions[index].spare == last
            regions[index].spare = UInt32(page)
        }
        return isMoved
    }

    /// Makes a free run a place of the map, and the place that it replaces free: no durable map stands there.
    private func replace(_ old: UInt32, by new: UInt32, pages: Int) {
        let run = Int(new)..<Int(new) + pages
        markUsed(run)
        forEachPart(run) { $0.setUnreached($1, false) }
        let free = Int(old)..<Int(old) + pages
        forEachPart(free) { region, part in
            region.setUnreached(part, true)
            freeCount += region.markFree(part)
        }
    }

    /// Gives space behind `pages` and the reserve back to the file system. Only when no durable checkpoint reaches it.
    /// - Parameters:
    ///   - slack: pages that are not worth it.
    ///   - most: pages to cut now.
    /// - Returns: pages that the file has now.
    @discardableResult
    func cutFile(to pages: Int, slack: Int = 0, atMost most: Int = .max) throws(StorageError) -> Int {
        lock.lock()
        defer { lock.unlock() }
        var capacity = max(pages, pageCount) + max(0, reserve - freeCount)
        if fileCapacity - capacity > most { capacity = fileCapacity - most }
        if capacity + slack >= fileCapacity { return fileCapacity }
        mark(.cutFile)
        limit.pages.store(capacity, ordering: .releasing)
        do { try file.truncate(to: Int64(capacity) * Int64(Format.pageSize)) } catch {
            limit.pages.store(fileCapacity, ordering: .releasing)
            throw StorageError(error)
        }
        fileCapacity = capacity
        return capacity
    }
}

// MARK: The map's nodes at a checkpoint

extension PageAllocator {
    /// A node of the map that a checkpoint has written.
    struct WrittenNode {
        var region: Int
        var reference: NodeReference
        var free: Int
        var longest: Int
    }

    /// Regions whose nodes a checkpoint has to write. Prepares what the map itself gives up.
    var changedRegions: [Int] {
        lock.withLock {
            setUnreached(retired, to: true)
            return regions.indices.filter { regions[$0].isChanged }
        }
    }

    /// What the root says of each node.
    func rootEntries(with written: [WrittenNode]) -> [WrittenNode] {
        var entries = regions.enumerated().map { index, region in
            WrittenNode(
                region: index, reference: region.reference, free: region.written.free,
                longest: region.written.longest)
        }
        for node in written { entries[node.region] = node }
        return entries
    }

    /// Lets what was written be the map.
    func adoptMap(
        _ written: [WrittenNode], root rootReference: NodeReference, version: UInt64
    ) -> (map: NodeReference, pageCount: Int) {
        let gone = lock.withLock { () -> [Extent] in
            for node in written {
                let region = regions[node.region]
                swap(&region.place, &region.spare)
                region.reference = node.reference
                region.written = (node.free, node.longest)
                region.isChanged = false
            }
            if root.pages > 0 {
                (root.place, root.spare) = (root.spare, root.place)
                root.reference = rootReference
            }
            defer { retired = [] }
            return retired
        }
        bury(gone, freed: version)
        let map = root.pages > 0 ? root.reference : regions.first?.reference ?? .null
        return lock.withLock { (map, pageCount) }
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
            case .doubling(let limit, let step): bytes < limit ? bytes * 2 : bytes + max(step, 0)
            case .fixed(let step): bytes + max(step, 0)
            case .percent(let share): bytes + bytes / 100 * max(share, 0)
            }
        return max(needed, (grown + page - 1) / page)
    }
}
