import StrataFiles
import Testing

@testable import StrataStorage

#if canImport(Glibc)
    import Platform

    /// The map once always took 64 GiB: under `ulimit -v` no store opened, and a process could open some thousand
    /// stores at most.
    @Suite struct AddressSpaceTests {
        private static func insert(_ store: Store, _ rows: Range<Int64>, bytes: Int) throws {
            let transaction = try store.beginWrite()
            do {
                for row in rows {
                    try [UInt8](repeating: UInt8(truncatingIfNeeded: row), count: bytes).withUnsafeBytes { text in
                        try [Cell.integer(row), .bytes(text)].withUnsafeBufferPointer {
                            try transaction.insert(0, key: RowKey(row), $0)
                        }
                    }
                }
            } catch {
                transaction.rollback()
                throw error
            }
            try transaction.commit()
        }

        private static func make(_ path: String) throws {
            let store = try Store.open(path: path)
            try PlainTable.setUp(store)
            try insert(store, 0..<10, bytes: 20_000)
            try store.close()
        }

        private static func check(_ store: Store, rows: Int64, bytes: Int) throws {
            let view = try store.snapshot().view
            #expect(try view.rowCount(0) == Int(rows))
            for row in 0..<rows {
                let place = try #require(try view.locate(0, RowKey(row)))
                let text = try #require(try view.bytes(place, 1))
                #expect(text.count == bytes && text.first == UInt8(truncatingIfNeeded: row))
            }
        }

        private static func options(_ kind: Int) -> StoreOptions {
            var options = StoreOptions()
            if kind == 1 { options.cipher = TestCipher(key: 1) }
            if kind == 2 { options.fileSystem = MemoryFileSystem() }
            if kind == 3 { options.durability = .none }
            return options
        }

        @Test("under a limit on address space databases open, outgrow their first maps, and open again") func limited()
            async
        {
            await #expect(processExitsWith: .success) {
                for limit in [1 << 30, 32 << 30, 40 << 30] as [UInt64] {
                    ProcessLimit.setAddressSpace(more: limit)
                    for kind in 0..<4 {
                        let directory = try TemporaryDirectory()
                        let path = directory.path + "/store"
                        let store = try Store.open(path: path, options: Self.options(kind))
                        try PlainTable.setUp(store)
                        // More than the first map of a GiB has room for, in one transaction and in several.
                        try Self.insert(store, 0..<200, bytes: 100_000)
                        try Self.insert(store, 200..<300, bytes: 100_000)
                        try Self.check(store, rows: 300, bytes: 100_000)
                        try store.close()
                        if kind == 2 { continue }
                        let again = try Store.open(path: path, options: Self.options(kind))
                        try Self.check(again, rows: 300, bytes: 100_000)
                        try again.close()
                        withExtendedLifetime(directory) {}
                    }
                    ProcessLimit.setAddressSpace(more: nil)
                }
            }
        }

        @Test("a dozen databases fit in four GiB") func several() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                ProcessLimit.setAddressSpace(more: 4 << 30)
                var stores: [Store] = []
                for number in 0..<12 {
                    let store = try Store.open(path: directory.path + "/store\(number)")
                    try PlainTable.setUp(store)
                    try PlainTable.insert(store, 0..<50)
                    stores.append(store)
                }
                for store in stores { #expect(try PlainTable.keys(store.snapshot().view).count == 50) }
                for store in stores { try store.close() }
            }
        }

        @Test("a lack of address space is a typed error, and commits stay")
        func exhausted() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                let path = directory.path + "/store"
                try Self.make(path)
                ProcessLimit.setAddressSpace(more: 256 << 20)
                var store = try Store.open(path: path)
                var rows: Int64 = 10
                do {
                    while rows < 30_000 {
                        try Self.insert(store, rows..<(rows + 10), bytes: 20_000)
                        rows += 10
                    }
                    Issue.record("the file grew without room in the map")
                } catch StorageError.limit(.addressSpace) {
                }
                #expect(rows > 10)
                try Self.check(store, rows: rows, bytes: 20_000)
                // A retry fails as well, without harm; with the limit lifted it succeeds.
                #expect(throws: StorageError.limit(.addressSpace)) {
                    try Self.insert(store, rows..<(rows + 100), bytes: 20_000)
                }
                ProcessLimit.setAddressSpace(more: nil)
                try Self.insert(store, rows..<(rows + 100), bytes: 20_000)
                try store.checkInvariants()
                try store.close()
                ProcessLimit.setAddressSpace(more: 8 << 20)
                #expect(throws: StorageError.limit(.addressSpace)) { try Store.open(path: path) }
                ProcessLimit.setAddressSpace(more: nil)
                store = try Store.open(path: path)
                try Self.check(store, rows: rows + 100, bytes: 20_000)
                try store.close()
                withExtendedLifetime(directory) {}
            }
        }

        /// A read-only open replays an unreplayed log in memory. A process of its own leaves that log behind by ending
        /// without a close: a store that is merely released keeps its maps a moment longer.
        @Test(
            "a read-only open with a log to replay maps no more than it needs, and grows",
            arguments: [0, 1])
        func replayedInMemory(kind: Int) async throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            await #expect(processExitsWith: .success) { [path = path as String, kind = kind as Int] in
                var options = Self.options(kind)
                options.logHalfBytes = 64 << 20
                let store = try Store.open(path: path, options: options)
                try PlainTable.setUp(store)
                for round in 0..<24 as Range<Int64> {
                    try Self.insert(store, (round * 10)..<(round * 10 + 10), bytes: 100_000)
                }
                _exit(0)
            }
            await #expect(processExitsWith: .success) { [path = path as String, kind = kind as Int] in
                var options = Self.options(kind)
                options.readOnly = true
                ProcessLimit.setAddressSpace(more: 8 << 20)
                #expect(throws: StorageError.limit(.addressSpace)) { try Store.open(path: path, options: options) }
                ProcessLimit.setAddressSpace(more: 960 << 20)
                let reading = try Store.open(path: path, options: options)
                #expect(reading.isReplayedInMemory)
                try Self.check(reading, rows: 240, bytes: 100_000)
                try reading.close()
            }
            withExtendedLifetime(directory) {}
        }

        @Test("a process may have thousands of databases open") func thousands() async {
            await #expect(processExitsWith: .success) {
                ProcessLimit.set(RLIMIT_NOFILE, 100_000)
                let directory = try TemporaryDirectory()
                var stores: [Store] = []
                for number in 0..<3000 {
                    var options = StoreOptions(fileSystem: MemoryFileSystem())
                    if number % 100 == 0 { options.fileSystem = POSIXFileSystem() }
                    let store = try Store.open(path: directory.path + "/store\(number)", options: options)
                    try PlainTable.setUp(store)
                    stores.append(store)
                }
                for store in stores { try PlainTable.insert(store, [1]) }
                for store in stores { try store.close() }
                withExtendedLifetime(directory) {}
            }
        }
    }
#endif
