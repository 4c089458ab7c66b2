internal import StrataStorage

/// Finds the seed of a store's nodes if no slot has the store's id.
///
/// A node contains its own checksum. From each page that looks like the start of a node, the search computes the seed
/// under which that node would verify. All intact nodes of one store yield the store's seed; each damaged node, and
/// other bytes, yield a different one. So the most frequent seed is the store's, unless a value contains more pages of
/// another store.
struct SeedSearch {
    /// Reads without verification.
    private let reader: PageReader
    private var written: WrittenPages
    private var pages: Int { written.count }
    /// Pages of the longest nodes that count: bytes that are no node may claim any length.
    private static let longest = 16

    init(_ reader: PageReader, _ written: WrittenPages) {
        self.reader = reader
        self.written = written
    }

    /// - Parameter log: the seed that the log beside the file gives; it wins if at least one node agrees with it.
    /// - Returns: else the seed that most nodes give; nil if no two give the same, or if two seeds are equally
    ///   frequent.
    /// - Complexity: reads the file once, and hashes a page up to 16 times: once for each node that it may belong to.
    mutating func run(log: NodeSeed?) -> NodeSeed? {
        var votes: [NodeSeed: Int] = [:]
        var page = Format.firstDataPage
        while true {
            page = written.next(from: page)
            if page >= pages { break }
            if reader.unverified(page).u32(0) != 0, let seed = seed(page) { votes[seed, default: 0] += 1 }
            page += 1
        }
        if let log, votes[log] != nil { return log }
        let most = votes.values.max() ?? 0
        let winners = votes.filter { $0.value == most }
        return most > 1 && winners.count == 1 ? winners.first?.key : nil
    }

    private func seed(_ page: Int) -> NodeSeed? {
        let node = reader.unverified(page)
        guard let kind = NodeKind(rawValue: UInt8(node.u8(0))), node.u32(0) == UInt32(kind.rawValue),
            node.u64(8) < Format.versionLimit, let count = NodeScan.pages(node, kind), count <= Self.longest,
            page + count <= pages
        else { return nil }
        let unseeded = NodeHeader.checksum(
            node, count: count * Format.pageSize, birth: node.u64(8), seed: .ofFormat1)
        return NodeSeed(rawValue: unseeded ^ node.u64(16))
    }
}
