import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A file whose changes stay in memory: what is written here is read back here, and never reaches the medium.
///
/// It is what a log is replayed into where nothing may be written.
/// Concurrency: as ``File``; the bytes are guarded by the users of the file, as on a disk.
package final class ShadowFile: File {
    private let original: any File
    private let range: MappedRange
    /// Bytes of the file beneath when it was opened.
    private let originalLength: Int64
    private let length: Atomic<Int>

    /// - Parameter reserve: bytes that the file can grow to.
    /// - Throws: ``FileError`` with operation `map` or `size`.
    package init(over original: any File, reserve: Int) throws(FileError) {
        self.original = original
        originalLength = try original.size()
        range = try original.mapPrivately(reserve: max(reserve, Int(originalLength)))
        length = Atomic(Int(originalLength))
    }

    package var path: String { original.path }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let count = min(buffer.count, length.load(ordering: .acquiring) - Int(offset))
        guard count > 0, let base = buffer.baseAddress else { return 0 }
        memcpy(base, range.base + Int(offset), count)
        return count
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard let base = bytes.baseAddress else { return }
        let end = Int(offset) + bytes.count
        if end > range.count { throw FileError(.write, path: path, errno: ENOSPC) }
        memcpy(range.mutableBase + Int(offset), base, bytes.count)
        length.max(end, ordering: .acquiringAndReleasing)
    }

    /// What is there in memory, or less when the file beneath was cut.
    package func size() throws(FileError) -> Int64 {
        let now = try original.size()
        return now < originalLength ? now : Int64(length.load(ordering: .acquiring))
    }

    package func truncate(to size: Int64) throws(FileError) {
        length.store(Int(size), ordering: .releasing)
    }

    package func preallocate(to size: Int64) throws(FileError) {
        if Int(size) > range.count { throw FileError(.preallocate, path: path, errno: ENOSPC) }
        length.max(Int(size), ordering: .acquiringAndReleasing)
    }

    package func syncData() throws(FileError) {}
    package func writeBack(offset: Int64, count: Int64) throws(FileError) {}
    package func status() throws(FileError) -> FileStatus { try original.status() }
    package func map(reserve: Int) throws(FileError) -> any FileMap { range }
    package func mapPrivately(reserve: Int) throws(FileError) -> MappedRange { range }

    package func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        try original.tryLock(byte: byte, exclusive: exclusive)
    }

    package func unlock(byte: Int64) throws(FileError) { try original.unlock(byte: byte) }
    package func close() { original.close() }
}

extension File {
    /// The contents in memory of one's own, with room for more; changes do not reach the file.
    ///
    /// - Parameter reserve: bytes of address space, at least the file's size.
    /// - Complexity: reads the whole file, where the implementation has nothing better.
    package func mapPrivately(reserve: Int) throws(FileError) -> MappedRange {
        guard let range = MappedRange(anonymous: reserve) else { throw FileError(.map, path: path, errno: ENOMEM) }
        let size = Int(try size())
        // A sealed file has its headers plain, and pages that were never written.
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
