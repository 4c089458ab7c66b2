import StrataFiles
import Testing

@testable import StrataStorage

/// Tests pins that a reader takes without the store's lock: the first snapshot of a version takes the lock and
/// shares the version, and later snapshots only count.
@Suite(.enabled(if: POSIXFileSystem().isShared))
struct ReaderPinsTests {
    private let path: String
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
        let store = try open()
        let transaction = try store.beginWrite()
        try transaction.apply(schema: CheckedStore.schema)
        for key in 0..<20 as Range<Int64> {
            let text = UnsafeRawBufferPointer(start: nil, count: 0)
            try [Cell.integer(key), .integer(0), .bytes(text), .double(0)].withUnsafeBufferPointer {
                try transaction.insert(CheckedStore.wide, key: RowKey(key), $0)
            }
        }
        try transaction.commit()
        try store.close()
    }

    private func open() throws -> Store {
        var options = StoreOptions()
        options.mapReserve = 1 << 30
        options.limits = .tiny
        return try Store.open(path: path, options: options)
    }

    private static func set(_ store: Store, _ value: Int64) throws {
        let transaction = try store.beginWrite()
        for key in 0..<20 as Range<Int64> {
            try transaction.set(CheckedStore.wide, RowKey(key), column: 1, to: .integer(value))
        }
        try transaction.commit()
    }

    private static func values(_ snapshot: Snapshot) throws -> Set<Int64> {
        var found: Set<Int64> = []
        try snapshot.view.scan(CheckedStore.wide, columns: [1]) { (batch) throws(StorageError) in
            for row in 0..<batch.count { found.insert(batch.integers(0)[row]) }
            return true
        }
        return found
    }

    /// Takes a snapshot without the lock.
    private static func counted(_ store: Store) throws -> Snapshot {
        _ = try store.snapshot()
        let snapshot = try store.snapshot()
        #expect(
            !store.commits.withState { $0.visible.isPinned }, "the pin is counted, and not in the table of versions")
        return snapshot
    }

    @Test("a reader's pin keeps its version while the same process commits") func owner() throws {
        let store = try open()
        try Self.set(store, 1)
        var kept: Snapshot? = try Self.counted(store)
        for value in 2...30 as ClosedRange<Int64> { try Self.set(store, value) }
        #expect(try kept.map(Self.values) == [1])
        #expect(store.activeVersions == 2)
        kept = nil
        #expect(store.activeVersions == 1)
        try store.checkInvariants()
        try store.close()
    }

    @Test("the owner sees the pin of another process, which then takes over writing and keeps the pin")
    func beside() throws {
        let writer = try open()
        try Self.set(writer, 1)
        let reader = try open()
        var kept: Snapshot? = try Self.counted(reader)
        let version = try #require(kept).version.rawValue
        #expect(writer.processes?.pins.foreign == [version])
        for value in 2...30 as ClosedRange<Int64> { try Self.set(writer, value) }
        #expect(try kept.map(Self.values) == [1])
        #expect(writer.activeVersions == 2)
        try reader.gate.whileHeld { _ in try reader.becomeOwner() }
        for value in 31...60 as ClosedRange<Int64> { try Self.set(reader, value) }
        #expect(try kept.map(Self.values) == [1])
        try reader.checkInvariants()
        kept = nil
        #expect(writer.processes?.pins.foreign == [] && reader.activeVersions == 1)
        try reader.close()
        try writer.close()
    }

    @Test("an owner that hands writing over keeps what its readers have pinned") func handOver() throws {
        let first = try open()
        try Self.set(first, 1)
        let kept = try Self.counted(first)
        let second = try open()
        try second.gate.whileHeld { _ in try second.becomeOwner() }
        for value in 2...30 as ClosedRange<Int64> { try Self.set(second, value) }
        #expect(try Self.values(kept) == [1])
        #expect(second.processes?.pins.foreign == [kept.version.rawValue])
        try withExtendedLifetime(kept) {
            try second.close()
            try first.close()
        }
    }

    /// Holds as many versions as a process may pin, but for two: one is left for a result, one for the newest version.
    private static func fill(_ reader: Store, from writer: Store) throws -> [Snapshot] {
        try (0..<ProcessTable.Layout.mostVersions - 2).map { value in
            try set(writer, Int64(value))
            return try reader.snapshot()
        }
    }

    @Test("the last version that a process may pin is pinned by any number of readers") func lastVersion() throws {
        let writer = try open()
        let reader = try open()
        let held = try Self.fill(reader, from: writer)
        try Self.set(writer, -1)
        _ = try reader.snapshot()
        let isReserved = reader.commits.withState { $0.visible.reserve() }
        #expect(isReserved)
        // The places of readers that pin without the lock are used up before the last of these.
        let newest = try (0..<ProcessTable.Layout.readerPins + 2).map { _ in try reader.snapshot() }
        for snapshot in newest { #expect(try Self.values(snapshot) == [-1]) }
        withExtendedLifetime((held, newest)) {}
        reader.commits.withState { $0.visible.giveBackReserved() }
    }

    @Test("a version that the process table has no place for is refused, and not read without a pin")
    func noPlace() throws {
        let writer = try open()
        let reader = try open()
        let held = try Self.fill(reader, from: writer)
        try Self.set(writer, -1)
        _ = try reader.snapshot()
        let counted = try reader.snapshot()
        // As transactions of a guest that wait for their publication: each has a place for its base version.
        reader.commits.withState { state in
            while reader.processes?.pins.pin(counted.version.rawValue) != nil {}
            for _ in 0..<2 { _ = state.visible.reserve() }
        }
        #expect(throws: StorageError.limit(.pins)) { try reader.snapshot() }
        #expect(try Self.values(counted) == [-1])
        withExtendedLifetime((held, counted)) {}
    }

    @Test("threads whose stacks are at equal distances begin their search at different places")
    func firstPlaces() {
        for base in [0x7f2a_4000_0e10, 0x7ffc_1234_5678, 0x10_0000_0000] as [UInt] {
            for distance in [8 << 20, (8 << 20) + 4096, 1 << 20, 512 << 10] as [UInt] {
                let places = Set((0..<8).map { ProcessPins.firstPlace(stack: base &+ UInt($0) * distance) })
                #expect(places.count >= 5, "\(base) \(distance): \(places)")
            }
        }
    }

    @Test("each snapshot after a commit of another process contains that commit") func newest() throws {
        let writer = try open()
        let reader = try open()
        for value in 1...40 as ClosedRange<Int64> {
            try Self.set(writer, value)
            for _ in 0..<3 { #expect(try Self.values(reader.snapshot()) == [value]) }
        }
        try reader.close()
        try writer.close()
    }

    @Test("a closed store refuses snapshots, and detaches when the last one is released") func close() throws {
        let store = try open()
        try Self.set(store, 1)
        var kept: Snapshot? = try Self.counted(store)
        try store.close()
        #expect(throws: StorageError.closed) { try store.snapshot() }
        #expect(try kept.map(Self.values) == [1])
        #expect(store.processes?.isEnded == false)
        kept = nil
        #expect(store.processes?.isEnded == true)
    }
}

/// Tests the counts of pins without a store.
@Suite struct ReaderCountTests {
    private static func pins(mostPins: UInt64 = 1 << 47) -> ReaderPins {
        let pins = ReaderPins(nil, SystemScheduling(), mostPins: mostPins)
        let isShared = pins.share(CommitQueueTests.version(7), publication: nil, isStored: false)
        #expect(isShared)
        return pins
    }

    private static func pin(_ pins: ReaderPins) throws -> (pin: ReaderPin, checksSize: Bool) {
        let attempt = pins.pin()
        let pinned: (pin: ReaderPin, checksSize: Bool)? =
            if case .pinned(let pin, let checksSize) = attempt { (pin, checksSize) } else { nil }
        return try #require(pinned, "no pin: \(attempt)")
    }

    private static func expectNone(_ pins: ReaderPins) {
        let attempt = pins.pin()
        if case .none = attempt { return }
        Issue.record("a pin of no version: \(attempt)")
    }

    @Test("the first pin, and one in 64, checks the size")
    func checkedSize() throws {
        let pins = Self.pins()
        for number in 0..<200 {
            let (pin, checksSize) = try Self.pin(pins)
            #expect(checksSize == (number % 64 == 0), "\(number)")
            let isLast = pins.release(pin)
            #expect(!isLast)
        }
        let (count, isPinned) = pins.retire()
        #expect(count == 200 && !isPinned)
    }

    @Test("the last pin of a replaced version says so")
    func lastPin() throws {
        let pins = Self.pins()
        let held = try (0..<3).map { _ in try Self.pin(pins).pin }
        let early = pins.release(held[0])
        let (count, isPinned) = pins.retire()
        #expect(!early && count == 3 && isPinned)
        Self.expectNone(pins)
        let ends = [pins.release(held[2]), pins.release(held[1])]
        #expect(ends == [false, true])
        #expect(pins.free(held[1]) == 7)
    }

    @Test("a version that was pinned too often is outdated")
    func wornVersion() throws {
        let pins = Self.pins(mostPins: 3)
        for _ in 0..<3 { _ = pins.release(try Self.pin(pins).pin) }
        #expect(pins.isWorn)
        let attempt = pins.pin()
        let outdated: ReaderPin? = if case .outdated(let pin) = attempt { pin } else { nil }
        _ = pins.release(try #require(outdated, "a version that is worn: \(attempt)"))
        let (count, isPinned) = pins.retire()
        #expect(count == 4 && !isPinned && !pins.isWorn)
    }

    @Test("when all slots are in use no version is shared")
    func allSlotsInUse() throws {
        let pins = Self.pins()
        var held: [ReaderPin] = []
        var isShared = true
        for number in UInt64(8)..<1000 where isShared {
            held.append(try Self.pin(pins).pin)
            let isPinned = pins.retire().isPinned
            #expect(isPinned)
            isShared = pins.share(CommitQueueTests.version(number), publication: nil, isStored: false)
        }
        #expect(held.count == 256 && !isShared)
        Self.expectNone(pins)
        for pin in held {
            let isLast = pins.release(pin)
            #expect(isLast)
            _ = pins.free(pin)
        }
        isShared = pins.share(CommitQueueTests.version(1000), publication: nil, isStored: false)
        #expect(isShared)
    }
}
