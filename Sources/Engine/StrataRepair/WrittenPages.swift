internal import StrataFiles
internal import StrataStorage

/// The pages of a file outside its holes.
///
/// A hole reads as zeros and has no node, so a salvage skips it: a file that was extended may be almost all holes, and
/// in a file system in memory, reading a hole through a mapping would allocate it.
struct WrittenPages {
    private let file: any File
    /// Pages of the file, holes included.
    let count: Int
    /// The last range found without a hole.
    private var known = 0..<0

    init(_ file: any File, count: Int) {
        self.file = file
        self.count = count
    }

    /// The first page at or after `page` outside the holes; ``count`` if there is none.
    /// - Complexity: one system call for each range without a hole.
    mutating func next(from page: Int) -> Int {
        if known.contains(page) { return page }
        guard page < count, let data = file.nextData(from: Int64(page * Format.pageSize)) else { return count }
        let end = Int((min(data.upperBound, Int64(count * Format.pageSize)) + Int64(Format.pageSize - 1)))
        let first = max(page, min(Int(data.lowerBound) / Format.pageSize, count))
        known = first..<max(first, end / Format.pageSize)
        return first
    }

    /// Number of pages outside the holes.
    var total: Int {
        var rest = self
        var (total, page) = (0, 0)
        while true {
            page = rest.next(from: page)
            if page >= count { return total }
            total += max(1, rest.known.upperBound - page)
            page = max(page + 1, rest.known.upperBound)
        }
    }
}
