import FaultModel

/// The pages of files that take space, and the capacity.
struct SpaceAccount: Sendable {
    /// In bytes; unlimited when nil.
    var capacity: Int64?
    /// Whether each page of a file is allocated.
    private var pages: [Inode: [Bool]] = [:]
    private var pageCount: Int64 = 0

    /// Allocated bytes, in whole pages.
    var used: Int64 { pageCount * Int64(FileImage.pageSize) }

    /// Free bytes; nil when unlimited.
    var available: Int64? { capacity.map { max(0, $0 - used) } }

    /// Counts every page of the files as allocated: an image does not tell holes from zeros.
    init(_ image: DiskImage, capacity: Int64?) {
        self.capacity = capacity
        for (inode, file) in image.files { take(count: Int(file.size), at: 0, of: inode) }
    }

    /// The number of leading bytes of a write for which there is space.
    func accept(count: Int, at offset: Int64, of inode: Inode) -> Int {
        guard let capacity else { return count }
        var free = (capacity - used) / Int64(FileImage.pageSize)
        let taken = pages[inode] ?? []
        for page in Self.pages(count: count, at: offset) where page >= taken.count || !taken[page] {
            if free <= 0 { return max(0, page * FileImage.pageSize - Int(offset)) }
            free -= 1
        }
        return count
    }

    mutating func take(count: Int, at offset: Int64, of inode: Inode) {
        let range = Self.pages(count: count, at: offset)
        if range.isEmpty { return }
        var taken = pages.removeValue(forKey: inode) ?? []
        let old = taken.count
        if old < range.upperBound {
            taken += repeatElement(false, count: max(0, range.lowerBound - old))
            taken += repeatElement(true, count: range.upperBound - taken.count)
            pageCount += Int64(range.upperBound - max(old, range.lowerBound))
        }
        for page in range.clamped(to: 0..<old) where !taken[page] {
            taken[page] = true
            pageCount += 1
        }
        pages[inode] = taken
    }

    /// Frees everything beyond the first `size` bytes.
    mutating func release(beyond size: Int64, of inode: Inode) {
        let kept = (Int(size) + FileImage.pageSize - 1) / FileImage.pageSize
        guard var taken = pages.removeValue(forKey: inode) else { return }
        for page in taken[min(kept, taken.count)...] where page { pageCount -= 1 }
        taken.removeLast(max(0, taken.count - kept))
        pages[inode] = taken
    }

    private static func pages(count: Int, at offset: Int64) -> Range<Int> {
        if count <= 0 { return 0..<0 }
        return Int(offset) / FileImage.pageSize..<(Int(offset) + count - 1) / FileImage.pageSize + 1
    }
}
