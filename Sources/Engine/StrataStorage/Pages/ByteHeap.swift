/// Bytes at stable addresses, freed together.
final class ByteHeap {
    @exclusivity(unchecked) private var chunks: [UnsafeMutableRawBufferPointer] = []
    @exclusivity(unchecked) private var next: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var room = 0

    deinit { for chunk in chunks { chunk.deallocate() } }

    @inline(__always)
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard let source = bytes.baseAddress else { return nil }
        if bytes.count > room { addChunk(bytes.count) }
        guard let start = next else { return nil }
        start.copyMemory(from: source, byteCount: bytes.count)
        next = start + bytes.count
        room -= bytes.count
        return UnsafeRawPointer(start)
    }

    /// Uninitialised bytes at a multiple of 8.
    func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        let skip = next.map { -Int(bitPattern: $0) & 7 } ?? 0
        if count + skip > room { addChunk(count) }
        guard let free = next else { preconditionFailure("a chunk was just added") }
        let start = free + (-Int(bitPattern: free) & 7)
        room -= count + (start - free)
        next = start + count
        return start
    }

    @inline(never)
    private func addChunk(_ least: Int) {
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(least, chunks.isEmpty ? 1 << 12 : 1 << 16), alignment: 16)
        chunks.append(chunk)
        next = chunk.baseAddress
        room = chunk.count
    }

    func removeAll() {
        // One chunk is kept for the next use. All chunks but the first have 64 KiB or more.
        guard let last = chunks.last else { return }
        for chunk in chunks.dropLast() { chunk.deallocate() }
        chunks.removeSubrange(..<(chunks.count - 1))
        next = last.baseAddress
        room = last.count
    }
}
