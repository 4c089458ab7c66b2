internal import StrataFiles
internal import StrataStorage

/// The bytes of a log, as far as they are not zeros: one that was made long takes no more memory for that.
struct LogBytes {
    private static let partBytes = 1 << 16
    /// Of the whole file.
    let count: Int
    private var parts: [(offset: Int, bytes: [UInt8])] = []

    /// Reads a log piece by piece, past its holes.
    /// - Throws: what reading throws; `read` where the file is shorter than it says.
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

    /// Puts them where they stand in a log that begins at `base`, and has as many bytes; the rest is zeros there.
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
