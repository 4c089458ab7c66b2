import FaultModel
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What cannot be tried, and what to do instead: an error of use.
package struct TrialRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Base names of files that hold nothing which has to outlive a loss of power: locks and shared memory. Patterns of
/// `*` and `?`.
package struct VolatileNames: Sendable {
    /// Of SQLite, LMDB, LevelDB and RocksDB. Others use files with such names for what they rename later.
    package static let known = ["*-shm", "*-lock", "lock.mdb", "LOCK"]

    package let patterns: [String]

    /// - Parameter known: those that are volatile for any program; for an engine, whose own it says itself, none.
    /// Throws: `TrialRefusal` for a pattern that the preloaded library would take for something else.
    package init(adding patterns: [String], to known: [String] = VolatileNames.known) throws(TrialRefusal) {
        for pattern in patterns where pattern.isEmpty || pattern.contains(where: { "/:[\\".contains($0) }) {
            throw TrialRefusal(
                "--volatile \(pattern) is no pattern for the name of a file: * and ? stand for what may be there")
        }
        self.patterns = known + patterns
        guard self.patterns.joined(separator: ":").utf8.count < 1_000 else {
            throw TrialRefusal("the patterns of volatile files are longer than 1000 characters")
        }
    }

    func contains(_ name: String) -> Bool { patterns.contains { fnmatch($0, name, 0) == 0 } }
}

/// All that a directory holds, in memory.
package struct DirectorySnapshot: Sendable {
    /// More is not taken into memory.
    static let byteLimit: Int64 = 1 << 30

    /// Paths from the directory on: `a/b`.
    package var image = DiskImage()
    package var directories: Set<String> = []
    /// Symbolic links, which are not followed.
    package var links: [String] = []
    /// By the numbers that the kernel knows the files by.
    var inodes: [UInt64: Inode] = [:]
    private var bytes: Int64 = 0

    package init(of directory: String, without volatile: VolatileNames) throws {
        try take(directory, "", volatile)
    }

    private mutating func take(_ directory: String, _ prefix: String, _ volatile: VolatileNames) throws {
        for name in try FileTree.names(in: directory).sorted() {
            let path = directory + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                directories.insert(prefix + name)
                try take(path, prefix + name + "/", volatile)
            case S_IFREG:
                if !volatile.contains(name) { try takeFile(path, prefix + name, status) }
            case S_IFLNK:
                links.append(prefix + name)
            default:
                break
            }
        }
    }

    private mutating func takeFile(_ path: String, _ name: String, _ status: stat) throws {
        if let known = inodes[UInt64(status.st_ino)] {
            image.entries[name] = known
            return
        }
        bytes += Int64(status.st_size)
        guard bytes <= Self.byteLimit else {
            throw TrialRefusal("the directory holds more than \(Self.byteLimit >> 20) MiB: name a smaller one")
        }
        let inode = Inode(UInt64(inodes.count))
        inodes[UInt64(status.st_ino)] = inode
        image.files[inode] = FileImage(try FileTree.readBytes(path))
        image.entries[name] = inode
    }

    /// The first difference to what was to be there, in words; nil for none.
    package func difference(from expected: DiskImage) -> String? {
        for path in Set(image.entries.keys).union(expected.entries.keys).sorted() {
            guard let expectedFile = expected[path] else { return "\(path) is there and should not be" }
            guard let file = image[path] else { return "\(path) should be there and is not" }
            if file == expectedFile { continue }
            let (one, other) = (file.bytes, expectedFile.bytes)
            let offset = zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            if let offset { return "\(path) differs at byte \(offset)" }
            return "\(path) has \(one.count) bytes and should have \(other.count)"
        }
        return nil
    }

    /// Makes the files of a disk in an empty directory.
    package static func build(_ image: DiskImage, directories: Set<String>, at root: String) throws {
        for directory in directories.sorted() { try FileTree.createDirectory(root + "/" + directory) }
        var made: [Inode: String] = [:]
        for (path, inode) in image.entries.sorted(by: { $0.key < $1.key }) {
            let parent = DiskImage.directory(of: path)
            if parent != "." { try FileTree.createDirectory(root + "/" + parent) }
            if let other = made.updateValue(path, forKey: inode), link(root + "/" + other, root + "/" + path) == 0 {
                continue
            }
            try FileTree.writeBytes(root + "/" + path, image.files[inode, default: FileImage()].bytes)
        }
    }
}
