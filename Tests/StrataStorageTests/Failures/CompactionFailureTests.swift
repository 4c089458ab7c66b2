import FaultModel
import Platform
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// A compaction that ends early: by a power loss, the death of its process, or a failing or full disk.
@Suite(.serialized)
struct CompactionFailureTests {
    private static let path = "folder/store"
    private static let expected = Array(Int64(100)..<200)

    private static func options(_ fileSystem: any FileSystem) -> StoreOptions {
        var options = StoreOptions(fileSystem: fileSystem)
        options.mapReserve = 1 << 24
        options.logHalfBytes = 16 << 10
        return options
    }

    /// A closed store with half of its rows deleted.
    private static func makeImage() throws -> DiskImage {
        let disk = SimulatedDisk(seed: Seed(11))
        let store = try Store.open(path: path, options: options(disk))
        try PlainTable.setUp(store)
        for first in stride(from: Int64(0), to: 200, by: 50) { try PlainTable.insert(store, first..<(first + 50)) }
        try PlainTable.delete(store, 0..<100)
        try store.close()
        return disk.image
    }

    private static func disk(_ image: DiskImage, _ fault: Fault? = nil, capacity: Int64? = nil) -> SimulatedDisk {
        let settings = SimulatedDisk.Settings(seed: Seed(12), capacity: capacity, faults: fault.map { [$0] } ?? [])
        return SimulatedDisk(settings, image: image)
    }

    /// Opens, compares, makes a change, and checks that no other file is left.
    private static func judge(_ disk: SimulatedDisk, _ what: String) {
        do {
            var launch = options(disk)
            launch.compactOnLaunch = { _, _ in false }
            let store = try Store.open(path: path, options: launch)
            #expect(try PlainTable.keys(store.snapshot().view) == expected, "\(what)")
            try store.checkInvariants()
            try PlainTable.insert(store, [7])
            try store.close()
            #expect(try disk.status(OfflineCompaction.unfinishedPath(path)) == nil, "\(what)")
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test("power that goes at any step leaves the old file or the new one")
    func powerAtAnyStep() throws {
        let disk = Self.disk(try Self.makeImage())
        let before = disk.operations
        try Store.compact(path: Self.path, options: Self.options(disk))
        let end = disk.operations
        #expect(end - before > 10)
        var rules = CrashRules()
        rules.exhaustiveUnits = 3
        rules.sampleCount = 4
        rules.pairLimit = 1
        rules.cutLimit = 1
        var sweep = disk.sweep(rules)
        var states = 0
        for operation in before...end {
            _ = sweep.visit(points: operation..<(operation + 1)) { state in
                states += 1
                Self.judge(disk.crash(state), "power at \(state.address)")
                return true
            }
            Self.judge(disk.kill(after: operation), "killed after \(operation)")
        }
        #expect(states > 20)
    }

    @Test(
        "a failed operation leaves the store unchanged, and no other file",
        arguments: [Fault.Effect.inputOutputError, .noSpace, .shortWrite(bytes: 700)])
    func everyOperation(effect: Fault.Effect) throws {
        let image = try Self.makeImage()
        let clean = Self.disk(image)
        try Store.compact(path: Self.path, options: Self.options(clean))
        let places =
            (0..<clean.operations).map { Fault.Place.operation($0) } + (0..<clean.reads).map { Fault.Place.read($0) }
        var failed = 0
        for place in places {
            for isLasting in [false, true] {
                let disk = Self.disk(image, Fault(effect, at: place, isLasting: isLasting))
                do { try Store.compact(path: Self.path, options: Self.options(disk)) } catch {
                    failed += 1
                    // A copy whose removal failed, too, is removed by the next exclusive open.
                    let leftover = try disk.status(OfflineCompaction.unfinishedPath(Self.path))
                    if !isLasting, disk.struckFaults.count == 1, leftover != nil {
                        Issue.record("\(effect) at \(place) leaves a file behind: \(error)")
                    }
                }
                Self.judge(disk.kill(healthy: true), "\(effect) at \(place), lasting \(isLasting)")
            }
        }
        #expect(failed > 10)
    }

    @Test("without room for a copy the store opens as it is")
    func withoutRoom() throws {
        let image = try Self.makeImage()
        let used = Self.disk(image).usedBytes
        let live = try Self.liveBytes(image)
        for room in stride(from: Int64(0), through: live + 16 * 4096, by: 3 * 4096) {
            let disk = Self.disk(image, capacity: used + room)
            var options = Self.options(disk)
            options.compactOnLaunch = { _, _ in true }
            let store = try Store.open(path: Self.path, options: options)
            #expect(try PlainTable.keys(store.snapshot().view) == Self.expected, "\(room) bytes")
            try store.checkInvariants()
            try store.close()
            #expect(try disk.status(OfflineCompaction.unfinishedPath(Self.path)) == nil, "\(room) bytes")
            if room < live {
                let operations = disk.operations
                #expect(throws: StorageError.self) {
                    try Store.compact(path: Self.path, options: Self.options(disk))
                }
                #expect(disk.operations - operations <= 2, "free disk is checked before anything is written")
            }
        }
    }

    private static func liveBytes(_ image: DiskImage) throws -> Int64 {
        let store = try Store.open(path: path, options: options(disk(image)))
        try store.checkpoints.loadFreeMap()
        let live = try store.space().liveBytes
        try store.close()
        return Int64(live)
    }

    @Test("a copy never takes the name of a file that is there")
    func copyTakesNoName() throws {
        let disk = Self.disk(try Self.makeImage())
        let store = try Store.open(path: Self.path, options: Self.options(disk))
        try store.writeCopy(to: "folder/copy")
        #expect(throws: StorageError.self) { try store.writeCopy(to: "folder/copy") }
        let copy = try Store.open(path: "folder/copy", options: Self.options(disk))
        #expect(try PlainTable.keys(copy.snapshot().view) == Self.expected)
        try copy.close()
        try store.close()
    }

    @Test("a full temporary file system loses nothing")
    func fullTemporaryFileSystem() throws {
        #if canImport(Glibc)
            let directory = try TemporaryDirectory()
            let place = directory.path + "/small"
            mkdir(place, 0o755)
            guard mount("tmpfs", place, "tmpfs", 0, "size=3m") == 0 else {
                print("a full file system was not tried: mounting one is not permitted here")
                rmdir(place)
                return
            }
            defer {
                umount2(place, 2)
                rmdir(place)
            }
            var options = StoreOptions()
            options.mapReserve = 1 << 28
            let path = place + "/store"
            var store = try Store.open(path: path, options: options)
            try PlainTable.setUp(store)
            var count: Int64 = 0
            while count < 100_000 {
                do { try PlainTable.insert(store, count..<(count + 100)) } catch {
                    #expect(error.isNoSpace, "\(error)")
                    break
                }
                count += 100
            }
            #expect(count > 1000 && count < 100_000)
            #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<count))
            #expect(throws: StorageError.self) { try store.writeCopy(to: place + "/copy") }
            try store.checkInvariants()
            try store.close()
            options.compactOnLaunch = { _, _ in true }
            store = try Store.open(path: path, options: options)
            #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<count))
            for first in stride(from: Int64(0), to: count - 100, by: 100) {
                try PlainTable.delete(store, first..<(first + 100))
            }
            try store.checkInvariants()
            try store.close()
            store = try Store.open(path: path, options: options)
            #expect(try PlainTable.keys(store.snapshot().view) == Array((count - 100)..<count))
            #expect(try store.space().fileBytes < 1 << 20)
            try store.close()
        #endif
    }
}
