internal import StrataFiles
internal import StrataStorage

/// The pages of a file that stand in no hole.
///
/// A hole reads as zeros, and a salvage looks at none: of a file that was made long it may be all but everything, and
/// where files are memory, a look through a map fills it.
struct WrittenPages {
    private let file: any File
    /// Pages of the file, holes among them.
    let count: Int
    /// Without a hole; what was found last.
    private var known = 0..<0

    init(_ file: any File, count: Int) {
        self.file = file
        self.count = count
    }

    /// The first page from `page` on that is not in a hole; ``count`` where none follows.
    /// - Complexity: one call of the system for each stretch without a hole.
    mutating func next(from page: Int) -> Int {
        if known.contains(page) { return page }
        guard page < count, let data = file.nextData(from: Int64(page * Format.pageSize)) else { return count }
        let end = Int((min(data.upperBound, Int64(count * Format.pageSize)) + Int64(Format.pageSize - 1)))
        let first = max(page, min(Int(data.lowerBound) / Format.pageSize, count))
        known = first..<max(first, end / Format.pageSize)
        return first
    }

    /// How many they are.
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
