/// Nodes recognised by themselves: kind, table, birth and checksum stand in their own headers.
struct FoundNodes {
    var roots: [NodeReference] = []
    var schemas: [NodeReference] = []
    var freeMapRoots: [NodeReference] = []
    var branches: [UInt32: [NodeReference]] = [:]
    var groups: [UInt32: [NodeReference]] = [:]

    var isEmpty: Bool { roots.isEmpty && schemas.isEmpty && branches.isEmpty && groups.isEmpty }

    /// The newest birth of all.
    var newestBirth: UInt64 {
        var newest: UInt64 = 0
        for reference in roots + schemas + freeMapRoots { newest = max(newest, reference.birth) }
        for table in [branches, groups] {
            for reference in table.values.joined() { newest = max(newest, reference.birth) }
        }
        return newest
    }
}

extension SalvageSource {
    /// Looks for nodes at every page that nothing reachable takes.
    /// - Complexity: reads those pages; memory for a reference per node found.
    func scan() -> FoundNodes {
        var found = FoundNodes()
        var page = Format.firstDataPage
        while page < pageCount {
            let step = isVisited(page) ? 1 : take(page, &found)
            page += step
        }
        return found
    }

    /// Whether a node of one page stands here and verifies by itself.
    func isNode(_ page: Int) -> Bool {
        let node = reader.unverified(page)
        guard let kind = NodeKind(rawValue: UInt8(node.u8(0))) else { return false }
        let reference = NodeReference(
            page: UInt32(page), pages: 1, kind: kind, checksum: node.u64(16), birth: node.u64(8))
        do throws(StorageError) { _ = try reader.node(reference, kind) } catch { return false }
        return true
    }

    /// - Returns: pages that need not be looked at again.
    private func take(_ page: Int, _ found: inout FoundNodes) -> Int {
        let node = reader.unverified(page)
        guard let kind = NodeKind(rawValue: UInt8(node.u8(0))), node.u32(0) == UInt32(kind.rawValue),
            let pages = Self.pages(node, kind), page + pages <= pageCount
        else { return 1 }
        let reference = NodeReference(
            page: UInt32(page), pages: pages, kind: kind, checksum: node.u64(16), birth: node.u64(8))
        do throws(StorageError) { _ = try reader.node(reference, kind) } catch { return 1 }
        let table = NodeHeader.table(node)
        switch kind {
        case .root: found.roots.append(reference)
        case .schema: found.schemas.append(reference)
        case .freeMapRoot: found.freeMapRoots.append(reference)
        // A map of one node has no root.
        case .freeMap: if pageCount <= SpaceRegion.pages { found.freeMapRoots.append(reference) }
        case .branch: found.branches[table, default: []].append(reference)
        case .group: found.groups[table, default: []].append(reference)
        case .segments, .value, .entryLeaf, .entryBranch: break
        }
        return pages
    }

    /// How long a node says that it is; nil for kinds that are only reached from others.
    private static func pages(_ node: UnsafeRawPointer, _ kind: NodeKind) -> Int? {
        let bytes: Int
        switch kind {
        case .branch, .freeMap: return 1
        case .group: bytes = Group(node).size
        case .root: bytes = Int(node.u32(60))
        case .schema: bytes = SchemaNode.bytesOffset + Int(node.u32(24))
        case .freeMapRoot: return max(1, FreeMapRoot.pages(Int(min(node.u32(24), 1 << 20))))
        case .segments, .value, .entryLeaf, .entryBranch: return nil
        }
        let pages = (bytes + Format.pageSize - 1) / Format.pageSize
        return pages >= 1 && pages <= Format.maxNodePages ? pages : nil
    }
}
