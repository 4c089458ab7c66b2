/// The pages that a new free map goes to.
///
/// Taking them changes what is free, and so may change further nodes of the map: they are taken until nothing changes.
struct FreeMapPages {
    let allocator: PageAllocator
    let version: UInt64
    /// For each map node that changed, its page.
    private(set) var nodes: [Int: UInt32] = [:]
    private(set) var root: UInt32 = 0
    private(set) var rootPages = 0
    /// What the map before had in their place; free as soon as the new map counts.
    private(set) var replaced: [Extent] = []
    private var taken: [Extent] = []

    init(allocator: PageAllocator, version: UInt64) {
        self.allocator = allocator
        self.version = version
    }

    /// - Returns: the bits that the new map will hold.
    mutating func take(replacing old: FreeMap, _ reserved: [Extent]) throws(StorageError) -> [UInt64] {
        if !old.root.isNull { replaced.append(Self.extent(old.root)) }
        while true {
            let bits = allocator.durableBits(reserved + replaced)
            let count = FreeMap.nodeCount(bits)
            var isComplete = true
            for node in 0..<count where nodes[node] == nil {
                let isNew = node >= old.nodes.count
                if !isNew && FreeMap.slice(bits, node) == FreeMap.slice(old.bits, node) { continue }
                nodes[node] = try take(1)
                if !isNew { replaced.append(Self.extent(old.nodes[node])) }
                isComplete = false
            }
            let needed = FreeMap.rootPages(count)
            if rootPages < needed {
                if rootPages > 0 { giveBackRoot() }
                root = try take(needed)
                rootPages = needed
                isComplete = false
            }
            if isComplete { return bits }
        }
    }

    private mutating func take(_ count: Int) throws(StorageError) -> UInt32 {
        let page = try allocator.allocateRun(count)
        taken.append(Extent(page: page, pages: UInt32(count), birth: version))
        return page
    }

    private mutating func giveBackRoot() {
        let unused = Extent(page: root, pages: UInt32(rootPages), birth: version)
        taken.removeAll { $0 == unused }
        allocator.giveBack([unused])
    }

    /// The map was not written: its pages return.
    func giveBack() { allocator.giveBack(taken) }

    private static func extent(_ reference: NodeReference) -> Extent {
        Extent(page: reference.page, pages: UInt32(reference.pages), birth: reference.birth)
    }
}
