import CXXHash
import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Files that are no stores, and stores of other versions: refused by a typed error and left unchanged.
@Suite struct ForeignFileTests {
    enum Foreign: String, CaseIterable {
        case short, text, database, zeros, future, futureSecond, pastZero
        case older, olderSecond, olderSealed

        func bytes() throws -> [UInt8] {
            switch self {
            case .short: return [UInt8](repeating: 7, count: 511)
            case .text: return Array(String(repeating: "Lorem ipsum dolor sit amet. ", count: 900).utf8)
            case .database:
                return Array("SQLite format 3\0".utf8) + [16, 0, 1, 1, 0, 64, 32, 32]
                    + [UInt8](repeating: 0, count: 8168) + [UInt8](repeating: 13, count: 4096)
            case .zeros: return [UInt8](repeating: 0, count: 16384)
            case .older: return try FormatFixture.bytes(1)
            case .olderSecond: return [UInt8](repeating: 0, count: 512) + (try FormatFixture.bytes(1)[512...])
            case .future, .futureSecond, .pastZero, .olderSealed:
                var file = CraftedFile(try FileImages.clean(seed: 1, steps: 20).data)
                let version: UInt8 = self == .pastZero ? 0 : 3
                for slot in self == .futureSecond ? [1] : [0, 1] {
                    file.changeSlot(slot) {
                        $0[8] = self == .olderSealed ? 1 : version
                        $0[11] = self == .olderSealed ? 0x80 : 0
                    }
                }
                return file.bytes
            }
        }

        func expected(_ path: String) -> StorageError {
            switch self {
            case .future, .futureSecond: .unsupportedFormat(path: path, version: 3)
            case .pastZero: .unsupportedFormat(path: path, version: 0)
            case .older, .olderSecond, .olderSealed: .unsupportedFormat(path: path, version: 1)
            default: .notAStore(path: path)
            }
        }
    }

    @Test("a file of another kind is refused and left unchanged", arguments: Foreign.allCases, [false, true])
    func refused(foreign: Foreign, readOnly: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        let bytes = try foreign.bytes()
        let file = try POSIXFileSystem().open(path, .createNew)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.close()
        var options = FileImages.options
        options.readOnly = readOnly
        #expect(throws: foreign.expected(path)) { try Store.open(path: path, options: options) }
        #expect(try FileImages.contents(of: path) == bytes)
        #expect(directory.names() == ["file"])
    }

    @Test("a directory, a missing file and a file without permission are errors by name") func others() throws {
        let directory = try TemporaryDirectory()
        var options = StoreOptions(readOnly: true)
        options.mapReserve = 1 << 24
        do throws(StorageError) {
            _ = try Store.open(path: directory.path + "/none", options: options)
            Issue.record("opened nothing")
        } catch {
            guard case .file(let failure) = error, failure.operation == .open, failure.errno == ENOENT else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(throws: StorageError.notAStore(path: directory.path)) {
            try Store.open(path: directory.path, options: options)
        }
    }
}

/// Limits of the machine are errors, and leak no resource.
@Suite struct ResourceTests {
    private static func descriptors() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    private static func maps() -> Int {
        guard let file = fopen("/proc/self/maps", "r") else { return 0 }
        defer { fclose(file) }
        var count = 0
        while true {
            let next = getc(file)
            if next < 0 { return count }
            if next == 10 { count += 1 }
        }
    }

    @Test("opening and closing leaves no descriptor and no map behind") func constant() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            var options = StoreOptions()
            options.mapReserve = 1 << 24
            let store = try Store.open(path: path, options: options)
            let transaction = try store.beginWrite()
            try transaction.apply(schema: StoreHistory.schema)
            try transaction.commit()
            try store.close()
            var before = (0, 0)
            for round in 0..<10_000 {
                if round == 1000 { before = (Self.descriptors(), Self.maps()) }
                options.readOnly = round % 2 == 0
                let store = try Store.open(path: path, options: options)
                #expect(try store.snapshot().view.rowCount(0) == 0)
                try store.close()
            }
            #expect(Self.descriptors() == before.0)
            #expect(abs(Self.maps() - before.1) <= 4)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("a lack of descriptors is an error") func descriptorLimit() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            try Store.open(path: path).close()
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            for free in 0..<4 {
                limit.rlim_cur = 256
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var held: [Int32] = []
                while true {
                    let descriptor = open("/dev/null", O_RDONLY)
                    if descriptor < 0 { break }
                    held.append(descriptor)
                }
                for _ in 0..<free { if let last = held.popLast() { close(last) } }
                do throws(StorageError) {
                    let store = try Store.open(path: path)
                    let transaction = try store.beginWrite()
                    try transaction.apply(schema: StoreHistory.schema)
                    try transaction.commit()
                    try store.close()
                    #expect(free > 0)
                } catch {
                    guard case .file(let failure) = error, failure.errno == EMFILE else {
                        Issue.record("\(error)")
                        continue
                    }
                }
                for descriptor in held { close(descriptor) }
                try Store.open(path: path).close()
            }
            withExtendedLifetime(directory) {}
        }
    }

    @Test("a lack of address space is an error") func addressSpaceLimit() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            try Store.open(path: path).close()
            for bytes in [1 << 30, 1 << 33, 1 << 36, (1 << 36) + (1 << 30)] {
                var limit = rlimit(rlim_cur: 0, rlim_max: 0)
                getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
                limit.rlim_cur = rlim_t(bytes)
                setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
                do throws(StorageError) {
                    let store = try Store.open(path: path)
                    let transaction = try store.beginWrite()
                    try transaction.apply(schema: StoreHistory.schema)
                    try transaction.commit()
                    try store.close()
                } catch {
                    switch error {
                    case .limit(.addressSpace): break
                    case .file(let failure): #expect(failure.operation == .map && failure.errno == ENOMEM)
                    default: Issue.record("\(error)")
                    }
                }
                limit.rlim_cur = limit.rlim_max
                setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            }
            try Store.open(path: path).close()
            withExtendedLifetime(directory) {}
        }
    }
}
