import FaultModel
import Files
import Platform

/// An error of use: the reason why a trial is impossible, and the remedy.
package struct TrialRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Base names of files whose content need not survive a power failure: locks and shared memory. Patterns of `*` and
/// `?`.
package struct VolatileNames: Sendable {
    /// Of SQLite, LMDB, LevelDB and RocksDB. `*.lock` is not among them: other programs rename such files into place.
    package static let known = ["*-shm", "*-lock", "lock.mdb", "LOCK"]

    package let patterns: [String]

    /// - Parameter known: the names that are volatile for any program; empty for an engine, which declares its own.
    /// Throws: `TrialRefusal` for a pattern that the preloaded library would interpret differently.
    package init(adding patterns: [String], to known: [String] = VolatileNames.known) throws(TrialRefusal) {
        for pattern in patterns where pattern.isEmpty || pattern.contains(where: { "/:[\\".contains($0) }) {
            throw TrialRefusal(
                "--volatile \(pattern) is not a pattern for file names: * and ? match any characters and one character")
        }
        self.patterns = known + patterns
        guard self.patterns.joined(separator: ":").utf8.count < 1_000 else {
            throw TrialRefusal("the patterns of volatile files are longer than 1000 characters")
        }
    }

    func contains(_ name: BytePath) -> Bool {
        patterns.contains { pattern in name.with { fnmatch(pattern, $0, 0) } == 0 }
    }
}

/// The whole content of a directory, in memory.
package struct DirectorySnapshot: Sendable {
    /// A snapshot refuses larger contents.
    static let byteLimit: Int64 = 1 << 30

    /// Paths relative to the directory, as ``BytePath/key``: `a/b`.
    package var image = DiskImage()
    package var directories: Set<String> = []
    /// Links, FIFOs and sockets; the image holds a placeholder in place of their bytes.
    package var nodes: [Inode: FileNode] = [:]
    package var modes = FileModes()
    /// By inode number.
    var inodes: [UInt64: Inode] = [:]
    private var bytes: Int64 = 0

    package init(of directory: String, without volatile: VolatileNames) throws {
        let place = BytePath(directory)
        modes[directory: "."] = UInt32(try FileTree.status(place).st_mode)
        try take(place, "", volatile)
    }

    private mutating func take(_ directory: BytePath, _ prefix: String, _ volatile: VolatileNames) throws {
        for name in try FileTree.names(in: directory) {
            let path = directory.appending(name)
            let key = prefix + name.key
            var status = stat()
            guard path.with({ lstat($0, &status) }) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                directories.insert(key)
                modes[directory: key] = UInt32(status.st_mode)
                try take(path, key + "/", volatile)
            } else if !volatile.contains(name), ![S_IFCHR, S_IFBLK].contains(status.st_mode & S_IFMT) {
                try takeFile(path, key, status)
            }
        }
    }

    private mutating func takeFile(_ path: BytePath, _ name: String, _ status: stat) throws {
        if let known = inodes[UInt64(status.st_ino)] {
            image.entries[name] = known
            return
        }
        let inode = Inode(UInt64(inodes.count))
        inodes[UInt64(status.st_ino)] = inode
        image.entries[name] = inode
        guard status.st_mode & S_IFMT == S_IFREG else {
            let node = try FileNode(status, at: path)
            nodes[inode] = node
            image.files[inode] = node.image
            if node.hasMode { modes[inode] = node.mode }
            return
        }
        bytes += Int64(status.st_size)
        guard bytes <= Self.byteLimit else {
            throw TrialRefusal("the directory holds more than \(Self.byteLimit >> 20) MiB: name a smaller one")
        }
        modes[inode] = UInt32(status.st_mode)
        image.files[inode] = FileImage(try FileTree.readBytes(path))
    }

    /// The first difference from the expected files, as text; nil if there is none.
    package func difference(from expected: DiskImage) -> String? {
        for path in Set(image.entries.keys).union(expected.entries.keys).sorted() {
            let text = BytePath(key: path).text
            guard let expectedFile = expected[path] else { return "\(text) is there and should not be" }
            guard let file = image[path] else { return "\(text) should be there and is not" }
            if file == expectedFile { continue }
            let (one, other) = (file.bytes, expectedFile.bytes)
            let offset = zip(one, other).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            if let offset { return "\(text) differs at byte \(offset)" }
            return "\(text) has \(one.count) bytes and should have \(other.count)"
        }
        return nil
    }

    /// The first file or directory with unexpected permissions, as text; nil if there is none.
    package func difference(from expected: FileModes, entries: [String: Inode]) -> String? {
        func difference(_ path: String, _ one: UInt32, _ other: UInt32) -> String? {
            if one & 0o777 == other & 0o777 { return nil }
            let modes = (String(one & 0o777, radix: 8), String(other & 0o777, radix: 8))
            return "\(BytePath(key: path).text) has the permissions \(modes.0) and should have \(modes.1)"
        }
        for (path, inode) in image.entries.sorted(by: { $0.key < $1.key }) {
            guard let other = entries[path] else { continue }
            if let found = difference(path, modes[inode], expected[other]) { return found }
        }
        for path in directories.sorted() {
            let found = difference(path, modes[directory: path], expected[directory: path])
            if let found { return found }
        }
        return nil
    }

    /// Writes the files of a disk to an empty directory, which gets the permissions of the original one.
    ///
    /// - Parameter nodes: entries that are not files.
    package static func build(
        _ image: DiskImage, directories: Set<String>, nodes: [Inode: FileNode] = [:], modes: FileModes = FileModes(),
        at root: String
    ) throws {
        let place = BytePath(root)
        func full(_ key: String) -> BytePath { key == "." ? place : place.appending(BytePath(key: key)) }
        for directory in directories.sorted() { try FileTree.createDirectory(full(directory)) }
        var made: [Inode: String] = [:]
        for (path, inode) in image.entries.sorted(by: { $0.key < $1.key }) {
            let parent = DiskImage.directory(of: path)
            if parent != "." { try FileTree.createDirectory(full(parent)) }
            if let other = made.updateValue(path, forKey: inode),
                full(other).with({ one in full(path).with { link(one, $0) } }) == 0
            {
                continue
            }
            if let node = nodes[inode] {
                try node.make(at: full(path))
            } else {
                let bytes = image.files[inode, default: FileImage()].bytes
                try FileTree.make(full(path), bytes, mode: modes[inode])
            }
        }
        // Last, and from the deepest on: permissions may forbid creating entries.
        for directory in directories.sorted(by: >) + ["."] {
            let mode = modes[directory: directory]
            if mode == FileModes.usualDirectory, UInt32(FileTree.maskedBits) & mode == 0 { continue }
            try FileTree.setMode(mode, of: full(directory))
        }
    }
}
