package import StrataFiles
internal import Synchronization

/// Random odd keys for the hash of tags. They are unknown to the author of a file.
struct TagKey: Sendable {
    let first: UInt64
    let second: UInt64

    init(_ fileSystem: any FileSystem) {
        first = fileSystem.randomBits() | 1
        second = fileSystem.randomBits() << 32 | 1
    }
}

/// How many pages of the file may be read. Grows with the file; shrinks only when no version reaches the tail.
final class PageLimit: Sendable {
    let pages = Atomic<Int>(0)
}

/// The mapped data file, and a tag per page that says which node was verified there (``PageReader``). Lives as long as
/// any reader of it.
///
/// The mapping and the range of tags are longer than the file, and grow in place when the file outgrows them.
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
    ///   - reserve: address space for the file in bytes; less is reserved if it is scarce.
    ///   - checks: structural checks of this file's nodes.
    ///   - seed: of the file's store.
    /// - Throws: `limit(.addressSpace)` if there is not enough for the file; `file`.
    package init(
        _ file: any File, reserve: Int, fileSystem: any FileSystem, checks: NodeChecks, seed: NodeSeed
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
        // Bound for as many tags as a file can have pages: a reader checks `limit` before it uses a tag.
        tags = range.mutableBase.bindMemory(to: Atomic<UInt32>.self, capacity: Int(Format.arenaBit))
    }

    private static func tagBytes(_ bytes: Int) -> Int { (bytes / Format.pageSize + 1) * MemoryLayout<UInt32>.size }

    /// Admits pages for reading after another process grew the file.
    package func admit(_ pages: Int) {
        if !extend(to: pages) { short.store(true, ordering: .relaxed) }
        limit.pages.max(min(pages, capacity), ordering: .acquiringAndReleasing)
    }

    /// Makes the next read of every page verify it again, including pages that this process wrote.
    func distrust() {
        for page in 0..<limit.pages.load(ordering: .acquiring) { tags[page].store(0, ordering: .relaxed) }
    }

    /// Whether another process grew the file beyond what this process could map.
    var isShort: Bool { short.load(ordering: .relaxed) }

    /// Pages that fit the mapping.
    var capacity: Int { min(map.count / Format.pageSize, tagRange.count / MemoryLayout<UInt32>.size) }

    /// Extends the mapping to this many pages, if the addresses behind it are free and the process may map so much.
    func extend(to pages: Int) -> Bool {
        if pages <= capacity { return true }
        guard pages < Int(Format.arenaBit) else { return false }
        // To twice the size, or at least an eighth more: a file that has outgrown its mapping keeps growing.
        for wanted in [max(pages, min(2 * capacity, Int(Format.arenaBit) - 1)), pages + pages / 8, pages]
        where map.extend(to: wanted * Format.pageSize) {
            return tagRange.extend(to: Self.tagBytes(wanted * Format.pageSize))
                || tagRange.extend(to: Self.tagBytes(pages * Format.pageSize))
        }
        return false
    }
}
