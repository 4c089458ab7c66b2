import FaultModel
import Platform
import StrataFiles
import Synchronization

/// Damage to bytes at rest.
///
/// Each of these first makes everything durable and begins a new trace: damage is not an operation of a program, so no
/// trace contains it. Maps show it at once.
/// Each throws ``FileError`` with ENOENT when there is no such file, and with EINVAL when the file is too short.
extension SimulatedDisk {
    /// Flips one bit. Bit n is bit n % 8, from the lowest, of byte n / 8.
    package func flipBit(_ bit: Int, in path: String) throws(FileError) {
        try damage(path, needing: Int64(bit / 8 + 1)) { file in
            let byte = file.bytes(at: Int64(bit / 8), count: 1)[0] ^ (1 << UInt8(bit % 8))
            withUnsafeBytes(of: byte) { file.write($0, at: Int64(bit / 8)) }
        }
    }

    /// Zeroes a page of 4 KiB.
    package func zeroPage(_ page: Int, in path: String) throws(FileError) {
        try damage(path, needing: Self.end(of: page)) { file in
            Self.set([UInt8](repeating: 0, count: FileImage.pageSize), page, of: &file)
        }
    }

    /// Swaps two pages.
    package func swapPages(_ one: Int, _ other: Int, in path: String) throws(FileError) {
        try damage(path, needing: max(Self.end(of: one), Self.end(of: other))) { file in
            let first = Self.page(one, of: file)
            Self.set(Self.page(other, of: file), one, of: &file)
            Self.set(first, other, of: &file)
        }
    }

    /// Overwrites a page with the content of another: a misdirected write.
    package func copyPage(_ source: Int, over target: Int, in path: String) throws(FileError) {
        try damage(path, needing: max(Self.end(of: source), Self.end(of: target))) { file in
            Self.set(Self.page(source, of: file), target, of: &file)
        }
    }

    /// Restores an earlier content of the page: a write that the disk acknowledged and lost.
    /// - Parameter steps: how many different contents to go back.
    /// - Returns: false, without a change, when the trace has no content that old.
    package func agePage(_ page: Int, by steps: Int = 1, in path: String) throws(FileError) -> Bool {
        let versions = pageVersions(page, in: path)
        guard versions.count > steps else { return false }
        let older = versions[versions.count - 1 - steps]
        try damage(path, needing: Self.end(of: page)) { file in Self.set(older, page, of: &file) }
        return true
    }

    /// Truncates the file.
    package func cut(_ path: String, to size: Int64) throws(FileError) {
        try damage(path, needing: size) { $0.setSize(size) }
    }

    /// The different contents that a page has had since the trace began, oldest first, the present ones last.
    package func pageVersions(_ page: Int, in path: String) -> [[UInt8]] {
        let (base, trace, inode) = state.withLock { ($0.base, $0.trace, $0.model.current.entries[path]) }
        guard let inode else { return [] }
        var file = base.files[inode] ?? FileImage()
        var versions: [[UInt8]] = file.size >= Self.end(of: page) ? [Self.page(page, of: file)] : []
        let offset = Int64(page * FileImage.pageSize)
        for record in trace {
            guard case .write(inode, let start, let bytes) = record.action else { continue }
            bytes.withUnsafeBytes { file.write($0, at: start) }
            guard start < Self.end(of: page), start + Int64(bytes.count) > offset else { continue }
            let now = Self.page(page, of: file)
            if now != versions.last { versions.append(now) }
        }
        return versions
    }

    private static func end(of page: Int) -> Int64 { Int64((page + 1) * FileImage.pageSize) }

    private static func page(_ page: Int, of file: FileImage) -> [UInt8] {
        file.bytes(at: Int64(page * FileImage.pageSize), count: FileImage.pageSize)
    }

    private static func set(_ bytes: [UInt8], _ page: Int, of file: inout FileImage) {
        bytes.withUnsafeBytes { file.write($0, at: Int64(page * FileImage.pageSize)) }
    }

    private func damage(
        _ path: String, needing size: Int64, _ body: (inout FileImage) -> Void
    ) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            var image = state.model.current
            guard let inode = image.entries[path], var file = image.files[inode] else {
                throw FileError(.write, path: path, errno: ENOENT)
            }
            guard file.size >= size else { throw FileError(.write, path: path, errno: EINVAL) }
            body(&file)
            image.files[inode] = file
            state.model = DiskModel(image)
            state.base = image
            state.trace = []
            for reference in state.maps[inode] ?? [] { reference.map?.refill(file) }
        }
    }
}
