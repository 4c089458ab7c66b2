import Platform
import Synchronization

/// A file whose changes stay in memory: reads return written bytes, which never reach the medium.
///
/// If an open must not write the files of a store, it replays the log into such a file.
/// Concurrency: as ``File``; threads that use the file guard its bytes among themselves, as on a disk.
package final class ShadowFile: FileLayer {
    package let base: any File
    private let range: MappedRange
    /// Size of the file beneath when it was opened.
    private let originalLength: Int64
    private let length: Atomic<Int>

    /// - Parameter reserve: address space in bytes, if the process may have so much.
    /// - Throws: ``FileError`` with operation `map` or `size`.
    package init(over original: any File, reserve: Int) throws(FileError) {
        base = original
        originalLength = try original.size()
        range = try original.mapPrivately(reserve: max(reserve, Int(originalLength)))
        length = Atomic(Int(originalLength))
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let count = min(buffer.count, length.load(ordering: .acquiring) - Int(offset))
        guard count > 0, let base = buffer.baseAddress else { return 0 }
        memcpy(base, range.base + Int(offset), count)
        return count
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard let base = bytes.baseAddress else { return }
        let end = Int(offset) + bytes.count
        try makeRoom(for: end)
        memcpy(range.mutableBase + Int(offset), base, bytes.count)
        length.max(end, ordering: .acquiringAndReleasing)
    }

    private func makeRoom(for end: Int) throws(FileError) {
        if range.extend(to: end > range.count ? end / 4 * 5 : end) || range.extend(to: end) { return }
        throw FileError(.map, path: path, errno: ENOMEM)
    }

    /// Size in memory, or less if the file beneath was truncated.
    package func size() throws(FileError) -> Int64 {
        let now = try base.size()
        return now < originalLength ? now : Int64(length.load(ordering: .acquiring))
    }

    package func truncate(to size: Int64) throws(FileError) {
        length.store(Int(size), ordering: .releasing)
    }

    package func preallocate(to size: Int64) throws(FileError) {
        try makeRoom(for: Int(size))
        length.max(Int(size), ordering: .acquiringAndReleasing)
    }

    package func syncData() throws(FileError) {}
    package func writeBack(offset: Int64, count: Int64) throws(FileError) {}
    package func map(reserve: Int) throws(FileError) -> any FileMap { range }
    package func mapPrivately(reserve: Int) throws(FileError) -> MappedRange { range }
}

extension File {
    /// The default for files without a mapping: reads the contents.
    package func mapPrivately(reserve: Int) throws(FileError) -> MappedRange { try readPrivately(reserve: reserve) }

    /// The contents in private memory, with space to grow; changes do not reach the file.
    ///
    /// - Parameter reserve: address space in bytes, if the process may have so much.
    /// - Complexity: reads the whole file.
    package func readPrivately(reserve: Int) throws(FileError) -> MappedRange {
        let size = Int(try size())
        guard let range = MappedRange(growing: max(reserve, size), atLeast: size, isOfFile: true) else {
            throw FileError(.map, path: path, errno: ENOMEM)
        }
        // In a sealed file the two header pages are plain. Pages that were never written do not open: they become
        // zeros.
        let headers = 8192
        let page = 4096
        var offset = 0
        while offset < size {
            let count = min(offset < headers ? headers : 1 << 20, size - offset)
            let piece = UnsafeMutableRawBufferPointer(start: range.mutableBase + offset, count: count)
            do throws(FileError) { _ = try read(into: piece, at: Int64(offset)) } catch {
                guard error.operation == .unseal, offset >= headers else { throw error }
                for start in stride(from: 0, to: count, by: page) {
                    let part = UnsafeMutableRawBufferPointer(rebasing: piece[start..<min(start + page, count)])
                    do throws(FileError) { _ = try read(into: part, at: Int64(offset + start)) } catch {
                        guard error.operation == .unseal else { throw error }
                        part.initializeMemory(as: UInt8.self, repeating: 0)
                    }
                }
            }
            offset += count
        }
        return range
    }
}
