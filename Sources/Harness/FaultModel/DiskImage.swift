import Seeds

/// The content of a disk: files, and separately the names that lead to them.
package struct DiskImage: Sendable {
    package var files: [Inode: FileImage] = [:]
    package var entries: [String: Inode] = [:]

    package init() {}

    /// The file at a path; nil when there is none.
    package subscript(path: String) -> FileImage? {
        guard let inode = entries[path] else { return nil }
        return files[inode]
    }

    /// Drops files without a name, as a file system check does after a crash.
    package mutating func dropUnnamed() {
        let named = Set(entries.values)
        if named.count < files.count { files = files.filter { named.contains($0.key) } }
    }

    /// Equal for disks with the same names, sizes and bytes, whatever the inode numbers.
    package mutating func digest() -> UInt64 {
        var sum: UInt64 = 0
        for (path, inode) in entries {
            let contents = files[inode, default: FileImage()].digest()
            sum &+= splitMix(ByteDigest.hash(path) ^ splitMix(contents))
        }
        return sum
    }

    /// The directory of a path, as the system resolves it: `.` for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
