package import StrataFiles
internal import Synchronization

/// What tags are hashed with: odd numbers that nobody knows who makes a file.
struct TagKey: Sendable {
    let first: UInt64
    let second: UInt64

    init(_ fileSystem: any FileSystem) {
        first = fileSystem.randomBits() | 1
        second = fileSystem.randomBits() << 32 | 1
    }
}

/// How many pages of the file may be touched. Grows with the file; shrinks only when no version reaches the tail.
final class PageLimit: Sendable {
    let pages = Atomic<Int>(0)
}

/// The mapped data file with its tags. Lives as long as any reader of it.
///
/// Both are longer than the file, and are made longer where they are when the file outgrows them.
package final class PageMap: Sendable {
    let map: any FileMap
    /// Atomic values in private memory; the pointer is immutable.
    nonisolated(unsafe) let tags: UnsafeMutablePointer<Atomic<UInt32>>
    private let tagRange: MappedRange
    let limit = PageLimit()
    let key: TagKey
    let checks: NodeChecks
    let seed: NodeSeed
    private let short = Atomic<Bool>(false)

    /// - Parameters:
    ///   - reserve: bytes of address space for the file; fewer are taken where it is short.
    ///   - checks: what the nodes of this file are held against.
    ///   - seed: of the store that the file is.
    /// - Throws: `limit(.addressSpace)` when there is not enough for the file; `file`.
    package init(
        _ file: any File, reserve: Int, _ fileSystem: any FileSystem, _ checks: NodeChecks, _ seed: NodeSeed
    ) throws(StorageError) {
        key = TagKey(fileSystem)
        self.checks = checks
        self.seed = seed
        do throws(FileError) { map = try file.map(reserve: reserve) } catch { throw StorageError(error) }
        let tagBytes = Self.tagBytes(map.count)
        guard let range = MappedRange(growing: max(tagBytes, Self.tagBytes(reserve)), atLeast: tagBytes) else {
            throw .limit(.addressSpace)
        }
        tagRange = range
        // As many as there will ever be: whoever uses one has asked for the limit.
        tags = range.mutableBase.bindMemory(to: Atomic<UInt32>.self, capacity: Int(Format.arenaBit))
    }

    private static func tagBytes(_ bytes: Int) -> Int { (bytes / Format.pageSize + 1) * MemoryLayout<UInt32>.size }

    /// Lets so many pages be read: another process has made the file longer.
    package func admit(_ pages: Int) {
        if !extend(to: pages) { short.store(true, ordering: .relaxed) }
        limit.pages.max(min(pages, capacity), ordering: .acquiringAndReleasing)
    }

    /// Has every page verified again when it is next read, those that this process wrote among them.
    func distrust() {
        for page in 0..<limit.pages.load(ordering: .acquiring) { tags[page].store(0, ordering: .relaxed) }
    }

    /// Whether the file has pages that did not fit in.
    var isShort: Bool { short.load(ordering: .relaxed) }

    /// Pages that fit.
    var capacity: Int { min(map.count / Format.pageSize, tagRange.count / MemoryLayout<UInt32>.size) }

    /// Makes room for so many pages, where the addresses behind are free and the process may map so much.
    func extend(to pages: Int) -> Bool {
        if pages <= capacity { return true }
        guard pages < Int(Format.arenaBit) else { return false }
        // Twice as much, or at least somewhat more: a file that has outgrown its map grows on.
        for wanted in [max(pages, min(2 * capacity, Int(Format.arenaBit) - 1)), pages + pages / 8, pages]
        where map.extend(to: wanted * Format.pageSize) {
            return tagRange.extend(to: Self.tagBytes(wanted * Format.pageSize))
                || tagRange.extend(to: Self.tagBytes(pages * Format.pageSize))
        }
        return false
    }
}
