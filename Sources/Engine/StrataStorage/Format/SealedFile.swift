internal import StrataFiles
internal import Synchronization

// Invariants
// 1. The storage engine sees pages of 4 096 bytes at multiples of 4 096. On disk a page is its sealed bytes, then
//    nonce, tag and four zeros: 4 128 bytes, consecutively from byte 8 192. The two header pages keep their places, so
//    that a slot is still one sector.
// 2. A write of a page shares at most one sector at each end with a neighbour, whose bytes there do not change. With
//    sectors written completely or not at all, a neighbour is never damaged.
// 3. The shadow holds a page as the file held it when it was last loaded or written here. A reader loads a page first
//    if its reference was not verified before (``FileMap/load(offset:count:)``).
// 4. Each page of each write is sealed under a nonce of its own, made of the file system's random bits.

/// A data file with sealed pages on disk.
///
/// Its mapping is a shadow: private memory of the plain file's geometry, filled on first use by reading and opening
/// pages.
final class SealedFile: FileLayer {
    let base: any File
    private let cipher: any Cipher
    private let randomBits: @Sendable () -> UInt64
    private let state = Mutex(State())

    private struct State {
        var cipher: (storeID: RandomID, cipher: any Cipher)?
        var shadow: MappedRange?
    }

    init(_ base: any File, _ cipher: any Cipher, randomBits: @escaping @Sendable () -> UInt64) {
        self.base = base
        self.cipher = cipher
        self.randomBits = randomBits
    }

    // MARK: Contents

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        guard let target = buffer.baseAddress, buffer.count > 0 else { return 0 }
        if offset < SealedGeometry.headerBytes {
            let count = try base.read(into: buffer, at: offset)
            try openSlots(target, count, offset)
            return count
        }
        guard offset % SealedGeometry.pageBytes == 0 else { throw unaligned(.read) }
        let wanted = buffer.count / Format.pageSize
        let sealed = UnsafeMutableRawBufferPointer.allocate(
            byteCount: wanted * SealedGeometry.stride, alignment: 16)
        defer { sealed.deallocate() }
        let count = try base.read(into: sealed, at: SealedGeometry.physical(offset)) / SealedGeometry.stride
        guard let source = sealed.baseAddress else { return 0 }
        let cipher = try storeCipher()
        for index in 0..<count {
            let page = UInt64(offset / SealedGeometry.pageBytes) + UInt64(index)
            let bytes = source + index * SealedGeometry.stride
            let isWhole = cipher.open(
                UnsafeRawBufferPointer(start: bytes, count: Format.pageSize), to: target + index * Format.pageSize,
                nonce: Nonce(bytes, Format.pageSize), tag: SealTag(bytes, Format.pageSize + Nonce.size),
                context: .page(page))
            if !isWhole { throw FileError(.unseal, path: path, errno: 0) }
        }
        return count * Format.pageSize
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        if offset < SealedGeometry.headerBytes { return try writeSlots(bytes, at: offset) }
        guard offset % SealedGeometry.pageBytes == 0, bytes.count % Format.pageSize == 0 else {
            throw unaligned(.write)
        }
        let pages = bytes.count / Format.pageSize
        let sealed = UnsafeMutableRawBufferPointer.allocate(byteCount: pages * SealedGeometry.stride, alignment: 16)
        defer { sealed.deallocate() }
        guard let target = sealed.baseAddress else { return }
        let cipher = try storeCipher()
        let nonce = Nonce.make(randomBits)
        for index in 0..<pages {
            let place = target + index * SealedGeometry.stride
            let tag = cipher.seal(
                UnsafeRawBufferPointer(start: source + index * Format.pageSize, count: Format.pageSize), to: place,
                nonce: nonce.advanced(by: index),
                context: .page(UInt64(offset / SealedGeometry.pageBytes) + UInt64(index)))
            nonce.advanced(by: index).store(place, Format.pageSize)
            tag.store(place, Format.pageSize + Nonce.size)
            place.put32(Format.pageSize + Seal.size, 0)
        }
        try base.write(UnsafeRawBufferPointer(sealed), at: SealedGeometry.physical(offset))
        if let shadow = state.withLock({ $0.shadow }), Int(offset) + bytes.count <= shadow.count {
            (shadow.mutableBase + Int(offset)).copyMemory(from: source, byteCount: bytes.count)
        }
    }

    /// The cipher of this store; a header slot with the store's id was read before any page.
    private func storeCipher() throws(FileError) -> any Cipher {
        guard let known = state.withLock({ $0.cipher?.cipher }) else { throw FileError(.unseal, path: path, errno: 0) }
        return known
    }

    private func storeCipher(_ storeID: RandomID) -> any Cipher {
        state.withLock { state in
            if let known = state.cipher, known.storeID == storeID { return known.cipher }
            let made = cipher.derived(for: storeID)
            state.cipher = (storeID, made)
            return made
        }
    }

    /// Sets the store's id for a salvage, if no header slot has it.
    func adopt(_ storeID: RandomID) { _ = storeCipher(storeID) }

    // MARK: Header slots

    /// Indices of the slots that lie within a range of bytes.
    private func slots(_ offset: Int64, _ count: Int) -> [Int] {
        [0, 1].filter { index in
            let start = Int64(index * Format.pageSize)
            return start >= offset && start + Int64(Format.slotSize) <= offset + Int64(count)
        }
    }

    private func openSlots(
        _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64
    ) throws(FileError) {
        for index in slots(offset, count) {
            let place = target + (index * Format.pageSize - Int(offset))
            switch SealedSlot.open(place, index: index, storeCipher) {
            case .plain: throw FileError(.notEncrypted, path: path, errno: 0)
            case .wrongKey: throw FileError(.wrongKey, path: path, errno: 0)
            case .other, .opened: continue
            }
        }
    }

    private func writeSlots(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        guard offset + Int64(bytes.count) <= SealedGeometry.headerBytes else { throw unaligned(.write) }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { copy.deallocate() }
        copy.copyMemory(from: bytes)
        guard let start = copy.baseAddress else { return }
        for index in slots(offset, bytes.count) {
            let place = start + (index * Format.pageSize - Int(offset))
            SealedSlot.seal(
                place, index: index, storeCipher(SealedSlot.storeID(place)), Nonce.make(randomBits))
        }
        try base.write(UnsafeRawBufferPointer(copy), at: offset)
    }

    private func unaligned(_ operation: FileError.Operation) -> FileError {
        FileError(operation, path: path, errno: 22)
    }

    // MARK: Other operations

    func nextData(from offset: Int64) -> Range<Int64>? {
        base.nextData(from: SealedGeometry.physical(offset)).map { data in
            let start = max(offset, SealedGeometry.logical(data.lowerBound))
            // A page that is partly data is no hole.
            return start..<max(start, SealedGeometry.logical(min(data.upperBound, .max / 2)) + SealedGeometry.pageBytes)
        }
    }
    func size() throws(FileError) -> Int64 { SealedGeometry.logical(try base.size()) }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: SealedGeometry.physical(size)) }
    func preallocate(to size: Int64) throws(FileError) { try base.preallocate(to: SealedGeometry.physical(size)) }

    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        let start = SealedGeometry.physical(offset)
        try base.writeBack(offset: start, count: SealedGeometry.physical(offset + count) - start)
    }

    func map(reserve: Int) throws(FileError) -> any FileMap {
        let size = Int(try size())
        guard let range = MappedRange(growing: reserve, atLeast: size, isOfFile: true) else {
            throw FileError(.map, path: path, errno: FileError.noMemory)
        }
        state.withLock { $0.shadow = range }
        return ShadowMap(range, self)
    }

    func mapPrivately(reserve: Int) throws(FileError) -> MappedRange { try readPrivately(reserve: reserve) }

    /// Refused: memory that processes share would hold plain bytes.
    func mapShared(count: Int) throws(FileError) -> any SharedMemory { throw FileError(.map, path: path, errno: 0) }
}

/// Geometry of a sealed file.
enum SealedGeometry {
    static let pageBytes = Int64(Format.pageSize)
    static let headerBytes = Int64(Format.firstDataPage) * pageBytes
    /// Bytes of a page on disk.
    static let stride = Format.pageSize + 32

    /// Offset of a page's first byte on disk.
    static func physical(_ offset: Int64) -> Int64 {
        offset <= headerBytes ? offset : headerBytes + (offset - headerBytes) / pageBytes * Int64(stride)
    }

    /// Size of the plain file: whole pages.
    static func logical(_ size: Int64) -> Int64 {
        size <= headerBytes ? size : headerBytes + (size - headerBytes) / Int64(stride) * pageBytes
    }
}

/// The plain contents of a sealed file, as far as they were loaded.
private final class ShadowMap: FileMap {
    private let range: MappedRange
    private let file: SealedFile

    init(_ range: MappedRange, _ file: SealedFile) {
        self.range = range
        self.file = file
    }

    var base: UnsafeRawPointer { range.base }
    var count: Int { range.count }
    var damage: MapDamage? { range.damage }
    func extend(to count: Int) -> Bool { range.extend(to: count) }

    /// Loads through a buffer of its own: another thread may be loading the same bytes, and must never see a part of
    /// them.
    func load(offset: Int, count: Int) throws(FileError) {
        guard offset >= 0, count >= 0, offset + count <= range.count else {
            throw FileError(.read, path: file.path, errno: 22)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        let read = try file.read(into: buffer, at: Int64(offset))
        guard read == count, let source = buffer.baseAddress else { throw FileError(.read, path: file.path, errno: 0) }
        (range.mutableBase + offset).copyMemory(from: source, byteCount: count)
    }
}
