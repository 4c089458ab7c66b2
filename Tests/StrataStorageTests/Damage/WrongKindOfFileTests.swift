import Measuring
import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Other kinds of files at the paths of a store.
@Suite struct WrongKindOfFileTests {
    enum Kind: CaseIterable, Sendable { case pipe, directory, socket, device }
    enum Place: String, CaseIterable, Sendable { case data = "", log = ".log", lock = ".lock" }

    private static func make(_ kind: Kind, _ path: String) throws {
        switch kind {
        case .pipe: try #require(mkfifo(path, 0o644) == 0)
        case .directory: try #require(mkdir(path, 0o755) == 0)
        case .device: try #require(symlink("/dev/zero", path) == 0)
        case .socket:
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0)
        }
    }

    @Test(
        "pipes, directories, sockets and devices are refused by name, and left alone",
        arguments: Kind.allCases, Place.allCases)
    func refused(kind: Kind, place: Place) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        if place != .data {
            let store = try Store.open(path: path)
            try PlainTable.setUp(store)
            try PlainTable.insert(store, 0..<10)
            try store.close()
        }
        let name = path + place.rawValue
        try Self.make(kind, name)
        defer { rmdir(name) }
        for readOnly in [true, false] {
            var options = StoreOptions(readOnly: readOnly)
            options.openTimeout = 100_000
            do {
                let store = try Store.open(path: path, options: options)
                // A file at the path of the log or the lock file may be moved aside if its name marks it as the
                // store's.
                let keys = try PlainTable.keys(store.snapshot().view)
                #expect(place != .data && keys == Array(0..<10))
                if !readOnly { for key in 10..<14 as Range<Int64> { try PlainTable.insert(store, [key]) } }
                try store.close()
            } catch {
                switch error as? StorageError {
                case .file, .notAStore, .inUse: break
                default: Issue.record("\(kind) as \(place), read-only \(readOnly): \(error)")
                }
            }
        }
        if place == .data {
            var found = stat()
            #expect(lstat(name, &found) == 0, "foreign files stay")
            return
        }
        unlink(name)
        rmdir(name)
        let store = try Store.open(path: path)
        #expect(try PlainTable.keys(store.snapshot().view).starts(with: Array(0..<10)))
        try store.checkInvariants()
        try store.close()
    }

    @Test("a sparse file of a hundred gigabytes is refused at once") func sparse() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let file = try POSIXFileSystem().open(path, .createNew)
        try file.truncate(to: 100 << 30)
        file.close()
        let seconds = ProcessorTime.seconds {
            for readOnly in [true, false] {
                #expect(throws: StorageError.notAStore(path: path)) {
                    try Store.open(path: path, options: StoreOptions(readOnly: readOnly))
                }
            }
        }
        #expect(seconds < 2, "reading them all takes more than ten")
        #expect(try POSIXFileSystem().status(path)?.size == 100 << 30)
    }
}
