import Seeds

/// The bytes of a file, in pages that copies share until one of them is written.
///
/// Invariant: between calls from outside, every byte at or beyond `size` is zero, whatever pages exist.
/// Complexity: a copy is O(1); the first write to a shared image copies its page list, and each page once.
package struct FileImage: Sendable, Equatable {
    package static let pageSize = 4096
    package static let sectorSize = 512

    /// A page that images share.
    struct Page: Sendable {
        /// 4 096 bytes, or none for a page of zeros.
        fileprivate var bytes: [UInt8] = []
        /// Digest of the bytes, 0 when unknown or when all are zero.
        fileprivate var digest: UInt64 = 0
        fileprivate var isDigested = true

        fileprivate init() {}

        /// Digests the bytes, so that images that share the page need not.
        init(_ bytes: [UInt8]) {
            precondition(bytes.count == pageSize, "a page of \(bytes.count) bytes")
            self.bytes = bytes
            updateDigest()
        }

        fileprivate mutating func updateDigest() {
            let found = bytes.withUnsafeBytes(ByteDigest.hash)
            digest = found == zeroPageDigest ? 0 : found
            isDigested = true
        }

        /// Whether both are the same memory, and so equal.
        fileprivate func isShared(with other: Page) -> Bool {
            if bytes.isEmpty || other.bytes.isEmpty { return bytes.isEmpty && other.bytes.isEmpty }
            return bytes.withUnsafeBytes { one in
                other.bytes.withUnsafeBytes { one.baseAddress == $0.baseAddress }
            }
        }
    }

    package private(set) var size: Int64 = 0
    private var pages: [Page] = []

    private static let zeroPageDigest = [UInt8](repeating: 0, count: pageSize).withUnsafeBytes(ByteDigest.hash)

    package init() {}

    package init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { write($0, at: 0) }
    }

    /// Writes, and extends the file when the write goes beyond its end.
    package mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        put(bytes, at: offset)
        size = max(size, offset + Int64(bytes.count))
    }

    /// Writes without touching the size. Call ``setSize(_:)`` before the image is used.
    mutating func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        precondition(offset >= 0, "a write at \(offset)")
        var done = 0
        while done < bytes.count {
            let place = Int(offset) + done
            let page = place / Self.pageSize
            let within = place % Self.pageSize
            let count = min(Self.pageSize - within, bytes.count - done)
            let piece = UnsafeRawBufferPointer(rebasing: bytes[done..<(done + count)])
            while pages.count <= page { pages.append(Page()) }
            if pages[page].bytes.isEmpty { pages[page].bytes = [UInt8](repeating: 0, count: Self.pageSize) }
            pages[page].bytes.withUnsafeMutableBytes { target in
                UnsafeMutableRawBufferPointer(rebasing: target[within..<(within + count)]).copyMemory(from: piece)
            }
            pages[page].isDigested = false
            done += count
        }
    }

    /// Truncates, or extends by zeros. Truncated bytes do not reappear when the file grows again.
    package mutating func setSize(_ newSize: Int64) {
        precondition(newSize >= 0, "a size of \(newSize)")
        let whole = Int(newSize) / Self.pageSize
        let rest = Int(newSize) % Self.pageSize
        let needed = rest == 0 ? whole : whole + 1
        if pages.count > needed { pages.removeLast(pages.count - needed) }
        if rest != 0, pages.count > whole, !pages[whole].bytes.isEmpty {
            let tailIsZero = pages[whole].bytes.withUnsafeBytes { $0[rest...].allSatisfy { $0 == 0 } }
            if !tailIsZero {
                pages[whole].bytes.withUnsafeMutableBytes { target in
                    for place in rest..<target.count { target[place] = 0 }
                }
                pages[whole].isDigested = false
            }
        }
        size = newSize
    }

    /// Bytes copied; fewer than asked at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        let count = Int(min(Int64(buffer.count), max(0, size - offset)))
        copy(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        return count
    }

    /// The bytes of a range, with zeros beyond the end.
    package func bytes(at offset: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            copy(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            initialized = count
        }
    }

    package var bytes: [UInt8] { bytes(at: 0, count: Int(size)) }

    private func copy(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
        var done = 0
        while done < buffer.count {
            let place = Int(offset) + done
            let page = place / Self.pageSize
            let within = place % Self.pageSize
            let count = min(Self.pageSize - within, buffer.count - done)
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + count)])
            if page < pages.count, !pages[page].bytes.isEmpty {
                pages[page].bytes.withUnsafeBytes { source in
                    target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[within..<(within + count)]))
                }
            } else {
                target.initializeMemory(as: UInt8.self, repeating: 0)
            }
            done += count
        }
    }

    /// Replaces a page without touching the size and without copying. Call ``setSize(_:)`` before the image is used.
    mutating func putPage(_ index: Int, _ page: Page) {
        while pages.count <= index { pages.append(Page()) }
        pages[index] = page
    }

    /// Calls `body` for each page that this image and another do not share, with its number and its bytes here; no
    /// bytes stand for zeros. Pages that are not shared may still be equal.
    /// Complexity: O(pages).
    package func forEachPage(
        notSharedWith other: FileImage, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) {
        let none = Page()
        for index in 0..<max(pages.count, other.pages.count) {
            let page = index < pages.count ? pages[index] : none
            if page.isShared(with: index < other.pages.count ? other.pages[index] : none) { continue }
            page.bytes.withUnsafeBytes { body(index, $0) }
        }
    }

    /// Equal for equal sizes and bytes. Complexity: O(pages), and O(bytes) for the pages written since the last call.
    package mutating func digest() -> UInt64 {
        var sum = splitMix(UInt64(size))
        for index in pages.indices {
            if !pages[index].isDigested {
                pages[index].updateDigest()
            }
            guard pages[index].digest != 0 else { continue }
            sum &+= splitMix(pages[index].digest ^ UInt64(index) &* 0x9FB2_1C65_1E98_DF25)
        }
        return sum
    }

    package static func == (one: FileImage, other: FileImage) -> Bool {
        one.size == other.size && one.bytes == other.bytes
    }
}
