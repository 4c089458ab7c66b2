internal import StrataFiles

extension Store {
    /// Reads the root of the last checkpoint's free map, before the first transaction. The write gate is held.
    func loadFreeMap() throws(StorageError) { try allocator.allocator.openMap(writer.slot.freeMap) }

    /// Writes the map nodes that changed, and the root, to the places that the map before does not use.
    ///
    /// After an error the map before is still the map. The write gate is held, no checkpoint is in progress.
    /// - Returns: where the map starts, and how many pages the version's contents take.
    /// - Complexity: O(regions), a page per region that changed.
    func writeFreeMap(_ version: UInt64) throws(StorageError) -> (map: NodeReference, pageCount: Int) {
        try loadFreeMap()
        let allocator = allocator.allocator
        try allocator.trim()
        var written: [PageAllocator.WrittenNode] = []
        for index in allocator.changedRegions {
            let region = allocator.regions[index]
            var summary = (free: 0, longest: 0)
            let reference = try writeNode(.freeMap, page: region.spare, pages: 1, version) { node in
                FreeMapNode.putSpare(node, region.place)
                summary = region.encode(node)
            }
            written.append(
                PageAllocator.WrittenNode(
                    region: index, reference: reference, free: summary.free, longest: summary.longest))
        }
        var rootReference = NodeReference.null
        if allocator.root.pages > 0 {
            let root = allocator.root
            let entries = allocator.rootEntries(with: written)
            rootReference = try writeNode(.freeMapRoot, page: root.spare, pages: root.pages, version) { node in
                node.put32(24, UInt32(entries.count))
                node.put32(28, root.place)
                for (index, entry) in entries.enumerated() {
                    let offset = FreeMapRoot.entriesOffset + index * FreeMapRoot.entrySize
                    entry.reference.store(node, offset)
                    node.put32(offset + 24, UInt32(entry.free))
                    node.put32(offset + 28, UInt32(entry.longest))
                }
            }
        }
        return allocator.adoptMap(written, root: rootReference, version: version)
    }

    /// Makes the newest committed version the checkpoint, so that the one before lets its pages go. The gate is held.
    /// - Returns: whether anything came of it.
    func releaseHeldPages() throws(StorageError) -> Bool {
        if !fileSystem.isPersistent { return false }
        let before = allocator.allocator.counts.held
        let newest = monitor.withLock { state.committed }
        if !waitUntilDurable(newest.version) { throw .poisoned }
        try waitForCheckpoint()
        if newest.version > writer.slot.checkpoint.rawValue {
            try checkpoint(newest)
        }
        return allocator.allocator.counts.held < before
    }

    /// A checkpoint that the caller waits for.
    private func checkpoint(_ version: VersionState) throws(StorageError) {
        let plan = try prepareCheckpoint(version)
        guard run(plan, paced: false) else {
            poison()
            throw .poisoned
        }
    }

    /// Lets the end of the file go before a close where that is worth further checkpoints: one until only the newest
    /// version counts, one or two that leave out what is free then.
    func dropTail(_ version: VersionState) throws(StorageError) {
        let allocator = allocator.allocator
        let slack = max(512, allocator.usedPages / 8)
        if version.version != writer.slot.checkpoint.rawValue {
            if allocator.tail(unreached: true) < slack { return }
            try checkpoint(version)
        }
        for _ in 0..<3 where allocator.tail(unreached: false) >= slack { try checkpoint(version) }
    }

    /// Space behind the last durable checkpoint that no version reaches, where there is much of it. The write gate is
    /// held, no checkpoint is in progress.
    /// - Parameters:
    ///   - slack: pages that are not worth it; nil for what a checkpoint leaves to the next commits.
    ///   - most: pages to cut now. A file system takes half a millisecond per MiB, and readers wait too.
    /// - Returns: the pages that the file has room for.
    @discardableResult
    func giveTailBack(slack: Int? = nil, atMost most: Int = 4096) throws(StorageError) -> Int {
        let pages = Int(writer.slot.pageCount)
        let capacity = try allocator.allocator.cutFile(to: pages, slack: slack ?? max(512, pages / 8), atMost: most)
        writer.writtenPages = min(writer.writtenPages, capacity)
        return capacity
    }

    private func writeNode(
        _ kind: NodeKind, page: UInt32, pages: Int, _ version: UInt64, _ fill: (UnsafeMutableRawPointer) -> Void
    ) throws(StorageError) -> NodeReference {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pages * Format.pageSize, alignment: 4096)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { throw .limit(.pages) }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        NodeHeader.write(base, kind: kind, table: 0)
        fill(base)
        var reference = NodeReference(page: page, pages: pages, kind: kind)
        reference.birth = version
        reference.checksum = NodeHeader.seal(base, count: buffer.count, birth: version)
        reader.trust(reference)
        try writePages(UnsafeRawBufferPointer(buffer), at: Int(page))
        return reference
    }
}
