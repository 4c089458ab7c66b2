import StrataFiles
import Testing

@testable import StrataStorage

/// Version numbers are refused at every place of a file if they are 2^62 or more, so that incrementing them never
/// overflows.
@Suite struct VersionLimitTests {
    private static let limits: [UInt64] = [1 << 62, 1 << 63, .max - 1, .max]

    @Test("a header slot's sequence, checkpoint, births and last synced LSN are bounded") func slots() {
        func decode(_ change: (inout HeaderSlot) -> Void) -> HeaderSlot.Decoded {
            var slot = HeaderSlotTests.sample()
            change(&slot)
            return slot.encode(at: 1).withUnsafeBytes { HeaderSlot.decode($0, at: 1) }
        }
        #expect(decode { $0.sequence = (1 << 62) - 1 } != .damaged)
        #expect(decode { $0.checkpoint = TransactionID((1 << 62) - 1) } != .damaged)
        #expect(decode { $0.logReach = 70 } != .damaged)
        for limit in Self.limits {
            #expect(decode { $0.sequence = limit } == .damaged)
            #expect(decode { $0.checkpoint = TransactionID(limit) } == .damaged)
            #expect(decode { $0.root.birth = limit } == .damaged)
            #expect(decode { $0.freeMap.birth = limit } == .damaged)
            #expect(decode { $0.logReach = limit } == .damaged)
        }
        #expect(decode { $0.logReach = 71 } == .damaged)
        #expect(
            decode {
                $0.logRequired = false
                $0.logReach = 1
            } == .damaged)
    }

    @Test("the birth in a reference to each kind of node is bounded") func births() throws {
        let sound = CraftedFile(try FileImages.clean(seed: 2, steps: 150).data)
        var kinds: Set<UInt8> = []
        for (node, found) in sound.nodes.enumerated() where kinds.insert(found.reference.kindCode).inserted {
            for limit in Self.limits {
                var file = sound
                file.setBirth(node, limit)
                #expect(throws: StorageError.self, "kind \(found.reference.kindCode)") { try Self.read(file) }
            }
        }
        #expect(kinds == Set(1...9))
    }

    private static func read(_ file: CraftedFile) throws {
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        let store = try FileImages.open(disk)
        defer { do { try store.close() } catch {} }
        _ = try StoreHistory.contents(store.snapshot().view)
        try store.checkInvariants()
    }

    @Test("the page reader refuses a larger birth, wherever the reference comes from") func reader() throws {
        let file = CraftedFile(try FileImages.clean(seed: 2, steps: 150).data)
        let value = try #require(file.nodes.first { $0.reference.is(.value) }).reference
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        let pages = try PageMap(
            try disk.open(FileImages.path, .read), reserve: 1 << 24, fileSystem: disk, checks: .ofTrees,
            seed: file.seed)
        pages.admit(file.bytes.count / Format.pageSize)
        _ = try PageReader(pages).node(value, .value)
        for limit in Self.limits {
            var crafted = file
            crafted.setBirth(try #require(crafted.nodes.firstIndex { $0.reference == value }), limit)
            let reference = try #require(crafted.nodes.first { $0.reference.page == value.page }).reference
            let other = FileImages.Disk()
            try other.put(crafted.bytes, at: FileImages.path)
            let pages = try PageMap(
                try other.open(FileImages.path, .read), reserve: 1 << 24, fileSystem: other, checks: .ofTrees,
                seed: file.seed)
            pages.admit(crafted.bytes.count / Format.pageSize)
            #expect(throws: StorageError.structure(reference)) { try PageReader(pages).node(reference, .value) }
        }
    }

    @Test("the log's base and the LSNs of its batches are bounded") func logs() {
        let epoch = LogEpoch(storeID: RandomID(1, 2), salt: RandomID(3, 4))
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)
        defer { bytes.deallocate() }
        guard let base = bytes.baseAddress else { return }
        func group(_ first: UInt64, _ last: UInt64) -> LogBatchHeader? {
            _ = LogBatchHeader(
                payloadBytes: 0, lsns: first...last, durableTo: 4, previous: 0, payloadChecksum: 0
            ).store(base, epoch)
            return LogBatchHeader(UnsafeRawPointer(base), epoch)
        }
        func header(_ version: UInt64) -> LogHeader.Decoded {
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            LogHeader(
                storeID: RandomID(1, 2), salt: RandomID(3, 4), halfBytes: 4096, baseVersion: TransactionID(version)
            ).store(base)
            return LogHeader.decode(base)
        }
        #expect(group(5, (1 << 62) - 1) != nil && header((1 << 62) - 1) != .damaged)
        for limit in Self.limits {
            #expect(group(5, limit) == nil && group(limit, limit) == nil)
            #expect(header(limit) == .damaged)
        }
    }

    @Test("versions in the block that one owner of writing leaves to the next are bounded") func processes() {
        let extent = Extent(page: 5, pages: 1, birth: 3, freed: 4)
        #expect(HandOver(HandOver(sequence: 9, held: [extent]).encode())?.held == [extent])
        for limit in Self.limits {
            #expect(HandOver(HandOver(sequence: limit, held: []).encode()) == nil)
            let born = Extent(page: 5, pages: 1, birth: limit, freed: 4)
            #expect(HandOver(HandOver(sequence: 9, held: [extent, born]).encode()) == nil)
            let freed = Extent(page: 5, pages: 1, birth: 3, freed: limit)
            #expect(HandOver(HandOver(sequence: 9, held: [freed]).encode()) == nil)
        }
    }

    @Test("versions that a process publishes are bounded", .enabled(if: POSIXFileSystem().isShared))
    func published() throws {
        let directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.mapReserve = 1 << 28
        let store = try Store.open(path: directory.path + "/store", options: options)
        try PlainTable.setUp(store)
        try PlainTable.insert(store, 0..<10)
        let other = try Store.open(path: directory.path + "/store", options: options)
        let versions = try #require(store.processes).versions
        let sound = try versions.newest()
        #expect(try other.snapshot().version.rawValue == sound.version)
        func publish(_ version: UInt64, birth: UInt64) throws -> PublishedVersion {
            var root = sound.root
            root.birth = birth
            versions.publish(version, root, sound.file)
            return try versions.newest()
        }
        #expect(try publish((1 << 62) - 1, birth: (1 << 62) - 2).version == (1 << 62) - 1)
        for limit in Self.limits {
            let words = ProcessTable.Layout.base
            versions.put(PublishedVersion(number: 7, version: limit, root: sound.root, file: sound.file), words)
            #expect(versions.get(7, words) == nil)
            for (version, birth) in [(limit, sound.root.birth), (sound.version, limit)] {
                #expect(throws: StorageError.lockFile(path: directory.path + "/store.lock")) {
                    try publish(version, birth: birth)
                }
                #expect(throws: StorageError.lockFile(path: directory.path + "/store.lock")) { try other.snapshot() }
            }
        }
        _ = try publish(sound.version, birth: sound.root.birth)
        #expect(try PlainTable.keys(other.snapshot().view) == Array(0..<10))
        try other.close()
        try store.close()
    }
}
