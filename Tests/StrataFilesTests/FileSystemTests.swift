import Platform
import Testing

@testable import StrataFiles

/// The contract of every file system, checked on the platform's and on the one in memory.
@Suite struct FileSystemTests {
    enum Kind: String, CaseIterable, Sendable { case posix, memory }

    /// A file system and a directory in it, deleted with the object.
    private final class Place {
        let fileSystem: any FileSystem
        let directory: String

        init(_ kind: Kind) throws {
            switch kind {
            case .memory:
                fileSystem = MemoryFileSystem(capacity: 1 << 24)
                directory = "memory"
            case .posix:
                fileSystem = POSIXFileSystem()
                let base = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
                var template = Array((base + "/strata-files-" + String(repeating: "X", count: 6)).utf8CString)
                guard let made = mkdtemp(&template) else { throw FileError(.open, path: base, errno: errno) }
                directory = String(cString: made)
            }
        }

        deinit {
            guard fileSystem is POSIXFileSystem else { return }
            for name in ["a", "b"] { unlink(directory + "/" + name) }
            rmdir(directory)
        }

        func path(_ name: String) -> String { directory + "/" + name }
    }

    private static func write(_ file: any File, _ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try file.write($0, at: offset) }
    }

    private static func read(_ file: any File, _ count: Int, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let n = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        return Array(bytes[..<n])
    }

    @Test("an exclusive rename never replaces another file", arguments: Kind.allCases)
    func renameNew(kind: Kind) throws {
        let place = try Place(kind)
        let file = try place.fileSystem.open(place.path("a"), .createNew)
        try Self.write(file, [1], at: 0)
        try place.fileSystem.renameNew(place.path("a"), to: place.path("b"))
        #expect(try place.fileSystem.status(place.path("a")) == nil)
        let other = try place.fileSystem.open(place.path("a"), .createNew)
        try Self.write(other, [2], at: 0)
        #expect(throws: FileError(.rename, path: place.path("b"), errno: EEXIST)) {
            try place.fileSystem.renameNew(place.path("a"), to: place.path("b"))
        }
        #expect(try Self.read(place.fileSystem.open(place.path("a"), .read), 2, at: 0) == [2])
        #expect(try Self.read(place.fileSystem.open(place.path("b"), .read), 2, at: 0) == [1])
    }

    @Test("writes are read back, with zeros in the gaps, up to the end", arguments: Kind.allCases)
    func contents(kind: Kind) throws {
        let place = try Place(kind)
        let file = try place.fileSystem.open(place.path("a"), .createNew)
        try Self.write(file, [1, 2, 3], at: 10)
        #expect(try file.size() == 13)
        #expect(try Self.read(file, 20, at: 8) == [0, 0, 1, 2, 3])
        #expect(try Self.read(file, 5, at: 13) == [])
        try file.truncate(to: 11)
        #expect(try Self.read(file, 20, at: 8) == [0, 0, 1])
        try file.truncate(to: 14)
        #expect(try Self.read(file, 20, at: 8) == [0, 0, 1, 0, 0, 0])
        try file.preallocate(to: 100)
        #expect(try file.size() == 100)
        try file.preallocate(to: 50)
        #expect(try file.size() == 100)
        try file.syncData()
        try file.writeBack(offset: 0, count: 100)
    }

    @Test("open modes require or create the file", arguments: Kind.allCases) func modes(kind: Kind) throws {
        let place = try Place(kind)
        let fileSystem = place.fileSystem
        #expect(throws: FileError(.open, path: place.path("a"), errno: ENOENT)) {
            try fileSystem.open(place.path("a"), .write)
        }
        _ = try fileSystem.open(place.path("a"), .createOrOpen)
        _ = try fileSystem.open(place.path("a"), .read)
        #expect(throws: FileError(.open, path: place.path("a"), errno: EEXIST)) {
            try fileSystem.open(place.path("a"), .createNew)
        }
    }

    @Test("a rename replaces, a removal removes the entry and not the open file", arguments: Kind.allCases)
    func entries(kind: Kind) throws {
        let place = try Place(kind)
        let fileSystem = place.fileSystem
        let first = try fileSystem.open(place.path("a"), .createNew)
        try Self.write(first, [1], at: 0)
        let second = try fileSystem.open(place.path("b"), .createNew)
        try Self.write(second, [2, 2], at: 0)
        let inode = try second.status().inode
        try fileSystem.rename(place.path("b"), to: place.path("a"))
        #expect(try fileSystem.status(place.path("b")) == nil)
        #expect(try fileSystem.status(place.path("a"))?.inode == inode)
        #expect(try fileSystem.status(place.path("a"))?.size == 2)
        #expect(try Self.read(first, 9, at: 0) == [1])
        try fileSystem.remove(place.path("a"))
        #expect(try fileSystem.status(place.path("a")) == nil)
        #expect(try Self.read(second, 9, at: 0) == [2, 2])
        try fileSystem.syncDirectory(of: place.path("a"))
    }

    @Test("a map shows later writes, at one address", arguments: Kind.allCases) func map(kind: Kind) throws {
        let place = try Place(kind)
        let file = try place.fileSystem.open(place.path("a"), .createNew)
        try Self.write(file, Array(repeating: 7, count: 4096), at: 0)
        let map = try file.map(reserve: 1 << 20)
        #expect(map.count >= 1 << 20)
        #expect(map.base.load(fromByteOffset: 4095, as: UInt8.self) == 7)
        try Self.write(file, Array(repeating: 9, count: 8192), at: 0)
        #expect(map.base.load(fromByteOffset: 8191, as: UInt8.self) == 9)
        file.close()
        #expect(map.base.load(as: UInt8.self) == 9)
    }

    @Test("a lock excludes other handles, also of this process", arguments: Kind.allCases)
    func locks(kind: Kind) throws {
        let place = try Place(kind)
        let path = place.path("a")
        let first = try place.fileSystem.open(path, .createNew)
        let second = try place.fileSystem.open(path, .write)
        #expect(try first.tryLock(byte: 5, exclusive: true))
        #expect(try !second.tryLock(byte: 5, exclusive: false))
        #expect(try second.tryLock(byte: 6, exclusive: true))
        try first.unlock(byte: 5)
        #expect(try second.tryLock(byte: 5, exclusive: false))
        #expect(try first.tryLock(byte: 5, exclusive: false))
        #expect(try !first.tryLock(byte: 5, exclusive: true))
        second.close()
        #expect(try first.tryLock(byte: 6, exclusive: true))
    }
}
