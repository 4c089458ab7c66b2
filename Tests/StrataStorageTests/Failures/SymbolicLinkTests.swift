import Platform
import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// A database opened through a link once had its log and lock file beside the link. Compacting through the link left
/// two databases.
@Suite struct SymbolicLinkTests {
    /// A directory `real` with a store of ten rows, and a directory `links` beside it.
    private final class Place {
        let directory: TemporaryDirectory
        let real: String
        let links: String
        var store: String { real + "/store" }

        init() throws {
            directory = try TemporaryDirectory()
            // Links above the temporary directory are not tested here.
            let root = try POSIXFileSystem().resolve(directory.path + "/x").dropLast(2)
            real = root + "/real"
            links = root + "/links"
            mkdir(real, 0o755)
            mkdir(links, 0o755)
            let store = try Store.open(path: self.store)
            try PlainTable.setUp(store)
            try PlainTable.insert(store, 0..<10)
            try store.close()
        }

        deinit {
            for folder in [real, links] {
                for name in names(folder) { unlink(folder + "/" + name) }
                rmdir(folder)
            }
        }

        func names(_ folder: String) -> [String] {
            guard let opened = opendir(folder) else { return [] }
            defer { closedir(opened) }
            var names: [String] = []
            while let entry = readdir(opened) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != "." && name != ".." { names.append(name) }
            }
            return names.sorted()
        }

        func link(_ name: String, to target: String) -> String {
            let path = links + "/" + name
            symlink(target, path)
            return path
        }
    }

    enum Kind: CaseIterable { case file, relative, directory, chain }

    private static func link(_ kind: Kind, _ place: Place) -> String {
        switch kind {
        case .file: place.link("store", to: place.store)
        case .relative: place.link("other", to: "../real/store")
        case .directory: place.link("folder", to: place.real) + "/store"
        case .chain: place.link("first", to: place.link("second", to: place.link("third", to: "../real/store")))
        }
    }

    @Test("log and lock file stand beside the data file, whatever name it is opened by", arguments: Kind.allCases)
    func beside(kind: Kind) throws {
        let place = try Place()
        let path = Self.link(kind, place)
        let before = place.names(place.links)
        let store = try Store.open(path: path)
        for row in 10..<15 as Range<Int64> { try PlainTable.insert(store, [row]) }
        #expect(place.names(place.real) == ["store", "store.lock", "store.log"])
        #expect(store.path == place.store, "messages name the file")
        // The file's own name leads to the same store.
        let other = try Store.open(path: place.store)
        try PlainTable.insert(other, [15])
        #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<16))
        try other.close()
        try store.close()
        #expect(place.names(place.real) == ["store"])
        #expect(place.names(place.links) == before)
    }

    @Test("a compaction leaves the link a link, and one store", arguments: Kind.allCases, [false, true])
    func compaction(kind: Kind, atLaunch: Bool) throws {
        let place = try Place()
        let path = Self.link(kind, place)
        let before = place.names(place.links)
        let inode = try POSIXFileSystem().status(place.store)?.inode
        if atLaunch {
            var options = StoreOptions()
            options.compactOnLaunch = { _, _ in true }
            try Store.open(path: path, options: options).close()
        } else {
            try Store.compact(path: path)
        }
        #expect(try POSIXFileSystem().status(place.store)?.inode != inode, "nothing was compacted")
        var found = stat()
        if kind != .directory { #expect(lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFLNK) }
        #expect(place.names(place.links) == before && place.names(place.real) == ["store"])
        let store = try Store.open(path: path)
        try PlainTable.insert(store, [10])
        try store.close()
        let own = try Store.open(path: place.store)
        #expect(try PlainTable.keys(own.snapshot().view) == Array(0..<11))
        try own.close()
    }

    @Test("opening a dangling link creates the store at its target; a link to itself is an error") func dangling()
        throws
    {
        let place = try Place()
        let path = place.link("new", to: "../real/new")
        var options = StoreOptions(readOnly: true)
        #expect(throws: StorageError.file(FileError(.open, path: place.real + "/new", errno: ENOENT))) {
            try Store.open(path: path, options: options)
        }
        options.readOnly = false
        let store = try Store.open(path: path, options: options)
        try PlainTable.setUp(store)
        try store.close()
        #expect(place.names(place.real) == ["new", "store"] && place.names(place.links) == ["new"])
        let loop = place.link("loop", to: "loop")
        #expect(throws: StorageError.file(FileError(.follow, path: loop, errno: ELOOP))) { try Store.open(path: loop) }
        let nowhere = place.link("nowhere", to: "../none/new")
        #expect(throws: StorageError.self) { try Store.open(path: nowhere) }
        // Deleting removes the store, and leaves the link.
        #expect(try Store.removeFiles(path: path))
        #expect(place.names(place.real) == ["store"])
        #expect(try !Store.removeFiles(path: path))
    }

    /// After too many links the store once treated the last link as the file: its log stood beside the link, and a
    /// compaction replaced the link.
    @Test("as many links are followed as the system follows, and one more is a typed error") func mostLinks() throws {
        let place = try Place()
        var path = place.link("0", to: "../real/store")
        for number in 1..<40 { path = place.link("\(number)", to: "\(number - 1)") }
        let store = try Store.open(path: path)
        #expect(store.path == place.store)
        try store.close()
        let further = place.link("40", to: "39")
        let refusal = StorageError.file(FileError(.follow, path: further, errno: ELOOP))
        #expect(throws: refusal) { try Store.open(path: further) }
        #expect(throws: refusal) { try Store.compact(path: further) }
        #expect(throws: refusal) { try Store.removeFiles(path: further) }
    }

    /// A compaction once wrote the whole database to the target of a link `NAME.compacting`, and replaced the database
    /// by the link.
    @Test(
        "a link in place of a file beside the store is not followed, dangling or not",
        arguments: [".compacting", ".log", ".lock", ".damage", ".creating-0", ".log.copying", ".copy.copying"],
        [false, true])
    func besideTheStore(suffix: String, isThere: Bool) throws {
        let place = try Place()
        let target = place.links + "/target"
        if isThere { close(open(target, O_CREAT | O_WRONLY, 0o644)) }
        try #require(symlink(target, place.store + suffix) == 0)
        var options = StoreOptions()
        options.compactOnLaunch = { _, _ in true }
        let store = try Store.open(path: place.store, options: options)
        for row in 10..<15 as Range<Int64> { try PlainTable.insert(store, [row]) }
        try store.writeCopy(to: place.store + ".copy")
        store.damage.note([
            DamagedPlace(table: nil, loss: .unknown, page: PageNumber(3), reason: .checksum)
        ])
        #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<15))
        try store.close()
        var found = stat()
        #expect(lstat(place.store, &found) == 0 && found.st_mode & S_IFMT == S_IFREG)
        #expect(lstat(place.store + ".copy", &found) == 0 && found.st_mode & S_IFMT == S_IFREG)
        #expect(place.names(place.links) == (isThere ? ["target"] : []))
        if isThere { #expect(stat(target, &found) == 0 && found.st_size == 0) }
    }

    @Test("a link whose target is not UTF-8 is a typed error") func notText() throws {
        let place = try Place()
        let target = place.real + "/\u{1}store"
        // 0xFF never occurs in UTF-8.
        let bytes = target.utf8.map { CChar(bitPattern: $0 == 1 ? 0xFF : $0) } + [0]
        let path = place.links + "/store"
        try #require(symlink(bytes, path) == 0)
        #expect(throws: StorageError.file(FileError(.follow, path: path, errno: EILSEQ))) {
            try Store.open(path: path)
        }
        #expect(place.names(place.real) == ["store"] && place.names(place.links) == ["store"])
    }

    @Test("a changed link or working directory does not affect an open store")
    func changedMeanwhile() throws {
        let place = try Place()
        let path = place.link("store", to: place.store)
        let store = try Store.open(path: path)
        unlink(path)
        symlink(place.real + "/other", path)
        for row in 10..<15 as Range<Int64> { try PlainTable.insert(store, [row]) }
        let other = try Store.open(path: path)
        try PlainTable.setUp(other)
        for row in 0..<4 as Range<Int64> { try PlainTable.insert(other, [row]) }
        #expect(place.names(place.real).contains("store.log") && place.names(place.real).contains("other.log"))
        try store.close()
        try other.close()
        #expect(place.names(place.real) == ["other", "store"])
        let again = try Store.open(path: place.store)
        #expect(try PlainTable.keys(again.snapshot().view) == Array(0..<15))
        try again.close()
    }

    @Test("a relative path is resolved when the store is opened") func relative() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            chdir(place.real)
            let store = try Store.open(path: "store")
            chdir("/")
            for row in 10..<15 as Range<Int64> { try PlainTable.insert(store, [row]) }
            #expect(place.names(place.real) == ["store", "store.lock", "store.log"])
            try store.close()
            #expect(place.names(place.real) == ["store"])
        }
    }

    /// A link whose target is another one each time that it is resolved.
    private final class RestlessLink: FileSystemLayer {
        let base = MemoryFileSystem(capacity: 1 << 22)
        let looks = Mutex(0)

        func resolve(_ path: String) throws(FileError) -> String {
            looks.withLock { looks in
                looks += 1
                return "target-\(looks)"
            }
        }
    }

    @Test("an open follows a link once, so that all files of a store are in one directory") func followedOnce()
        throws
    {
        let link = RestlessLink()
        var options = StoreOptions(fileSystem: link)
        options.mapReserve = 1 << 24
        let store = try Store.open(path: "link", options: options)
        #expect(store.path == "target-1" && link.looks.withLock { $0 } == 1)
        try store.close()
    }
}
