import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct EncryptionTests {
    static func options(key: UInt64? = 7) -> StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 28
        options.logHalfBytes = 16384
        options.cipher = key.map { TestCipher(key: $0) }
        return options
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        let file = try POSIXFileSystem().open(path, .read)
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    static func put(_ bytes: [UInt8], _ path: String) throws {
        let file = try POSIXFileSystem().open(path, .createOrOpen)
        defer { file.close() }
        try file.truncate(to: 0)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    /// A closed store, and its contents.
    static func makeStore(_ path: String, seed: UInt64, rounds: Int = 12) throws -> StoreModel {
        var history = StoreHistory(seed: seed)
        let store = try Store.open(path: path, options: options())
        for round in 0..<rounds {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<20 { try history.step(transaction) }
            try transaction.commit()
            try store.checkInvariants()
        }
        try store.close()
        return history.model
    }

    @Test("an encrypted store lives through sessions, crashes of its writer, and compaction", arguments: 1...3)
    func sessions(seed: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var history = StoreHistory(seed: UInt64(seed))
        for session in 0..<6 {
            let store = try Store.open(path: path, options: Self.options())
            for round in 0..<10 {
                let transaction = try store.beginWrite()
                if session == 0 && round == 0 { try transaction.apply(schema: StoreHistory.schema) }
                for _ in 0..<15 { try history.step(transaction) }
                try transaction.commit()
                try store.checkInvariants()
                #expect(try StoreHistory.contents(store.snapshot().view) == history.model, "seed \(seed)")
            }
            // A crash now would leave both files as they are.
            let copy = directory.path + "/copy"
            try Self.put(try Self.bytes(path), copy)
            try Self.put(try Self.bytes(path + ".log"), copy + ".log")
            var reading = Self.options()
            reading.readOnly = true
            let before = try Self.bytes(copy)
            let read = try Store.open(path: copy, options: reading)
            #expect(try StoreHistory.contents(read.snapshot().view) == history.model, "seed \(seed)")
            try read.close()
            #expect(try Self.bytes(copy) == before)
            let recovered = try Store.open(path: copy, options: Self.options())
            #expect(try StoreHistory.contents(recovered.snapshot().view) == history.model, "seed \(seed)")
            try recovered.checkInvariants()
            try recovered.close()
            try store.close()
            if session == 3 { try Store.compact(path: path, options: Self.options()) }
        }
        let store = try Store.open(path: path, options: Self.options())
        #expect(try StoreHistory.contents(store.snapshot().view) == history.model, "seed \(seed)")
        try store.close()
    }

    @Test("no value of an encrypted store occurs in its files") func nothingReadable() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let secret = Array("a sentence that must stay secret".utf8)
        let store = try Store.open(path: path, options: Self.options())
        for round in 0..<5 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: StoreHistory.schema) }
            try StoreHistory.withCells([.null, .bytes(secret), .double(0), .null, .links([])]) {
                try transaction.insert(StoreHistory.people, key: RowKey(Int64(round)), $0)
            }
            try transaction.commit()
        }
        for file in [path, path + ".log"] {
            let bytes = try Self.bytes(file)
            let isThere = bytes.indices.dropLast(secret.count).contains { bytes[$0...].starts(with: secret) }
            #expect(!isThere, "\(file)")
        }
        try store.close()
        let bytes = try Self.bytes(path)
        #expect(!bytes.indices.dropLast(6).contains { bytes[$0...].starts(with: Array("Person".utf8)) })
    }

    @Test("a wrong key, no key, and a key on a plain file are errors of their own, and nothing is written")
    func keys() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        _ = try Self.makeStore(path, seed: 5)
        let before = try Self.bytes(path)
        #expect(throws: StorageError.wrongKey(path: path)) {
            try Store.open(path: path, options: Self.options(key: 8))
        }
        #expect(throws: StorageError.keyRequired(path: path)) {
            try Store.open(path: path, options: Self.options(key: nil))
        }
        #expect(try Self.bytes(path) == before)
        let plain = directory.path + "/plain"
        try Store.open(path: plain, options: Self.options(key: nil)).close()
        let plainBefore = try Self.bytes(plain)
        #expect(throws: StorageError.notEncrypted(path: plain)) { try Store.open(path: plain, options: Self.options()) }
        #expect(try Self.bytes(plain) == plainBefore)
    }

    @Test("a flipped bit anywhere in an encrypted file is detected, or changes nothing") func flips() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let model = try Self.makeStore(path, seed: 11, rounds: 3)
        let whole = try Self.bytes(path)
        let damaged = directory.path + "/damaged"
        var seen = 0
        for position in stride(from: 0, to: whole.count, by: max(1, whole.count / 1500)) {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            try Self.put(bytes, damaged)
            do {
                let store = try Store.open(path: damaged, options: Self.options())
                defer { do { try store.close() } catch { seen += 1 } }
                #expect(try StoreHistory.contents(store.snapshot().view) == model, "byte \(position)")
            } catch is StorageError {
                seen += 1
            }
        }
        #expect(seen > 0)
    }

    @Test("a page of another place, and of another time, is refused") func misplaced() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let model = try Self.makeStore(path, seed: 13)
        let whole = try Self.bytes(path)
        let stride = SealedGeometry.stride
        let pages = (whole.count - 8192) / stride
        for first in 0..<min(pages, 12) {
            var bytes = whole
            let a = 8192 + first * stride
            let b = 8192 + (first + 1) % pages * stride
            bytes.replaceSubrange(a..<a + stride, with: whole[b..<b + stride])
            let damaged = directory.path + "/damaged"
            try Self.put(bytes, damaged)
            do {
                let store = try Store.open(path: damaged, options: Self.options())
                defer { do { try store.close() } catch {} }
                #expect(try StoreHistory.contents(store.snapshot().view) == model)
            } catch is StorageError {}
        }
    }

    @Test("a sealed page takes 4 128 bytes, and header slots stay in their sectors") func geometry() {
        #expect(SealedGeometry.physical(4096) == 4096)
        #expect(SealedGeometry.physical(8192) == 8192)
        #expect(SealedGeometry.physical(8192 + 3 * 4096) == 8192 + 3 * 4128)
        for pages in 0..<5 as Range<Int64> {
            #expect(SealedGeometry.logical(SealedGeometry.physical(8192 + pages * 4096)) == 8192 + pages * 4096)
            #expect(SealedGeometry.logical(8192 + pages * 4128 + 4127) == 8192 + pages * 4096)
        }
    }
}
