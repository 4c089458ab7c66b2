internal import StrataFiles
internal import StrataStorage

/// The bytes of a log in memory, without parts of 64 KiB that are all zeros: a log that is long but mostly empty takes
/// little memory.
struct LogBytes {
    private static let partBytes = 1 << 16
    /// Size of the whole file.
    let count: Int
    private var parts: [(offset: Int, bytes: [UInt8])] = []

    /// Reads a log piece by piece, and skips its holes.
    /// - Throws: errors of reading; `read` if the file is shorter than its size.
    init(_ file: any File, count: Int) throws(FileError) {
        self.count = count
        var offset = 0
        while offset < count {
            guard let data = file.nextData(from: Int64(offset)), data.lowerBound < count else { return }
            offset = max(offset, Int(data.lowerBound) / Self.partBytes * Self.partBytes)
            let wanted = min(Self.partBytes, count - offset)
            var part = [UInt8](repeating: 0, count: wanted)
            var failure: FileError?
            let read = part.withUnsafeMutableBytes { buffer -> Int in
                do throws(FileError) { return try file.read(into: buffer, at: Int64(offset)) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if read < wanted { throw FileError(.read, path: file.path, errno: 0) }
            if part.contains(where: { $0 != 0 }) { parts.append((offset, part)) }
            offset += wanted
        }
    }

    /// Copies the bytes to their offsets in zeroed memory of the log's size.
    func copy(to base: UnsafeMutableRawPointer) {
        for part in parts {
            part.bytes.withUnsafeBytes { bytes in
                if let source = bytes.baseAddress {
                    (base + part.offset).copyMemory(from: source, byteCount: bytes.count)
                }
            }
        }
    }
}
