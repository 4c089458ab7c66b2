import Seeds

/// The files of a closed database, whose bytes are numbered consecutively over all files.
package struct DamagedFiles: Sendable {
    package struct File: Sendable {
        package var name: String
        package var bytes: [UInt8]
        /// The number of its first byte among the bytes of all files.
        package var start: Int

        package init(name: String, bytes: [UInt8], start: Int) {
            self.name = name
            self.bytes = bytes
            self.start = start
        }

        /// The bytes in use: up to the last byte that is not zero, in whole pages. Behind them a preallocated file is
        /// empty.
        package var usedCount: Int {
            let used = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
            return min(bytes.count, (used + 4_095) / 4_096 * 4_096)
        }
    }

    /// How positions are distributed over the files.
    package enum Spread: Sendable {
        /// Equally many in each: a log of a few pages is damaged as often as large data files.
        case files
        /// Every byte is equally likely.
        case bytes
    }

    package let files: [File]

    package init(_ files: [(name: String, bytes: [UInt8])]) {
        var start = 0
        self.files = files.map { name, bytes in
            defer { start += bytes.count }
            return File(name: name, bytes: bytes, start: start)
        }
    }

    /// Of all files.
    package var byteCount: Int { files.reduce(0) { $0 + $1.bytes.count } }

    /// The index of the file of a byte; nil beyond the last.
    package func index(at position: Int) -> Int? {
        guard position >= 0, let index = files.lastIndex(where: { $0.start <= position }),
            position - files[index].start < files[index].bytes.count
        else { return nil }
        return index
    }

    package func file(at position: Int) -> File? { index(at: position).map { files[$0] } }

    /// `count` different positions within the used bytes of the files, ascending; each byte has `scale` positions, 8 if
    /// they are bits. If `count` is 0, every position of every byte, used or not.
    package func positions(
        count: Int, scale: Int, spread: Spread = .files, random: inout RandomStream
    ) -> [Int] {
        if count > 0, spread == .bytes { return positionsByBytes(count, scale, &random) }
        var chosen: [Int] = []
        for (index, file) in files.enumerated() {
            guard count > 0 else {
                chosen += Array((file.start * scale)..<((file.start + file.bytes.count) * scale))
                continue
            }
            let share = count * (index + 1) / files.count - count * index / files.count
            let space = file.usedCount * scale
            var set: Set<Int> = []
            while set.count < min(share, space) { set.insert(file.start * scale + random.below(space)) }
            chosen += set.sorted()
        }
        return chosen
    }

    private func positionsByBytes(_ count: Int, _ scale: Int, _ random: inout RandomStream) -> [Int] {
        var ends: [Int] = []
        for file in files { ends.append((ends.last ?? 0) + file.usedCount * scale) }
        let space = ends.last ?? 0
        var set: Set<Int> = []
        while set.count < min(count, space) { set.insert(random.below(space)) }
        var index = 0
        return set.sorted().map { place in
            while place >= ends[index] { index += 1 }
            let before = index > 0 ? ends[index - 1] : 0
            return files[index].start * scale + place - before
        }
    }

    /// The starts of pages; the last one of a file may be short.
    package func pages(of size: Int) -> [Int] {
        files.flatMap { file in Array(stride(from: file.start, to: file.start + file.bytes.count, by: size)) }
    }

    /// At most `size` bytes from a position, within its file.
    package func page(at position: Int, size: Int) -> ArraySlice<UInt8> {
        guard let file = file(at: position) else { return [] }
        let offset = position - file.start
        return file.bytes[offset..<min(offset + size, file.bytes.count)]
    }

    /// The position of a byte for people: file, page and byte in it.
    package func place(of position: Int, pageSize: Int) -> String {
        guard let file = file(at: position) else { return "byte \(position), beyond the files" }
        let offset = position - file.start
        return "file \(file.name), page \(offset / pageSize), offset \(offset % pageSize)"
    }
}
