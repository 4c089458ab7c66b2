import FaultModel
import Platform
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@Suite struct SimulatedFaultTests {
    private func disk(_ faults: String..., capacity: Int64? = nil) throws -> SimulatedDisk {
        let faults = try faults.map { try #require(Fault($0)) }
        return SimulatedDisk(SimulatedDisk.Settings(seed: Seed(1), capacity: capacity, faults: faults))
    }

    @Test("a write that fails changes nothing")
    func failedWrite() throws {
        let disk = try disk("io:start/main/data/write/1,EIO")
        let file = try disk.open("a", .createNew)
        try file.put([1])
        #expect(throws: FileError(.write, path: "a", errno: EIO)) { try file.put([2, 2]) }
        #expect(try file.get(9) == [1])
        try file.put([3])
        #expect(disk.struckFaults.count == 1)
        #expect(disk.trace.map(\.failed) == [false, false, true, false])
    }

    @Test("a short write puts its first bytes")
    func shortWrite() throws {
        let disk = try disk("io:#1,short:600")
        let file = try disk.open("a", .createNew)
        #expect(throws: FileError(.write, path: "a", errno: EIO)) { try file.put(filled(1, 1024)) }
        #expect(try file.get(2000) == filled(1, 600))
    }

    @Test("every recorded operation can be made to fail", arguments: ["EIO", "ENOSPC"])
    func everyOperationFails(error: String) throws {
        func history(_ disk: SimulatedDisk) -> Int {
            var failures = 0
            func attempt(_ body: () throws -> Void) {
                do { try body() } catch { failures += 1 }
            }
            attempt {
                let file = try disk.open("a", .createNew)
                attempt { try file.put([1]) }
                attempt { try file.truncate(to: 0) }
                attempt { try file.preallocate(to: 10) }
                attempt { try file.writeBack(offset: 0, count: 10) }
                attempt { try file.syncData() }
            }
            attempt { try disk.rename("a", to: "b") }
            attempt { try disk.syncDirectory(of: "b") }
            attempt { try disk.remove("b") }
            return failures
        }
        let clean = try disk()
        #expect(history(clean) == 0)
        #expect(clean.operations == 9)
        for number in 0..<clean.operations {
            let disk = try disk("io:#\(number),\(error)")
            let kind = clean.trace[number].identity.kind
            let fault = try #require(Fault("io:#\(number),\(error)"))
            let failures = history(disk)
            #expect((failures > 0) == fault.effect.applies(to: kind), "\(kind)")
            #expect(disk.struckFaults.count == (failures > 0 ? 1 : 0), "\(kind)")
        }
    }

    @Test("a failed sync is not repaired by a later one")
    func failedSyncStays() throws {
        let disk = try disk("io:start/main/data/sync/1,EIO")
        let file = try disk.open("a", .createNew)
        try file.put(filled(1, 512))
        try file.syncData()
        try disk.syncDirectory(of: "a")
        try file.put(filled(2, 512))
        #expect(throws: FileError(.sync, path: "a", errno: EIO)) { try file.syncData() }
        try file.syncData()
        #expect(try file.get(512) == filled(2, 512))
        #expect(disk.crash(StateMask()).contents(of: "a") == filled(1, 512))
        #expect(disk.crash(StateMask(bits: [0])).contents(of: "a") == filled(2, 512))
    }

    @Test("a sync that fails for good never works again, and other files are synced")
    func syncFailsForGood() throws {
        let disk = try disk("io:start/main/data/sync/0,EIO,for-good")
        let file = try disk.open("a", .createNew)
        for _ in 0..<3 { #expect(throws: FileError.self) { try file.syncData() } }
        let log = try disk.open("a.log", .createNew)
        try log.syncData()
    }

    @Test("a read can fail")
    func failedRead() throws {
        let disk = try disk("io:start/main/data/read/1,EIO")
        let file = try disk.open("a", .createNew)
        #expect(try file.get(1) == [])
        #expect(throws: FileError(.read, path: "a", errno: EIO)) { try file.get(1) }
        #expect(try file.get(1) == [])
    }

    @Test("a full disk takes what fits and refuses the rest")
    func fullDisk() throws {
        let disk = try disk(capacity: 4 * 4096)
        let file = try disk.open("a", .createNew)
        try file.put(filled(1, 2 * 4096))
        #expect(throws: FileError(.write, path: "a", errno: ENOSPC)) { try file.put(filled(2, 4 * 4096), at: 4096) }
        #expect(try file.size() == 4 * 4096)
        #expect(disk.usedBytes == 4 * 4096)
        // Existing pages can be overwritten; freed pages can be reused.
        try file.put(filled(3, 4096))
        #expect(throws: FileError.self) { try file.preallocate(to: 5 * 4096) }
        #expect(try file.size() == 4 * 4096)
        try file.truncate(to: 4096)
        let other = try disk.open("b", .createNew)
        try other.preallocate(to: 3 * 4096)
        #expect(throws: FileError.self) { try file.put([1], at: 4096) }
        try disk.remove("b")
        try file.put([1], at: 4096)
    }

    @Test("a hole takes no space until it is written")
    func holes() throws {
        let disk = try disk(capacity: 4096)
        let file = try disk.open("a", .createNew)
        try file.truncate(to: 1 << 20)
        #expect(disk.usedBytes == 0)
        try file.put([1], at: 500_000)
        #expect(throws: FileError(.write, path: "a", errno: ENOSPC)) { try file.put([1], at: 0) }
    }

    @Test("without space for good, pages that a file has stay writable")
    func noSpaceForGood() throws {
        let disk = try disk("io:start/main/data/write/1,ENOSPC,for-good")
        let file = try disk.open("a", .createNew)
        try file.put(filled(1, 4096))
        #expect(throws: FileError(.write, path: "a", errno: ENOSPC)) { try file.put(filled(1, 4096), at: 4096) }
        #expect(throws: FileError(.write, path: "a", errno: ENOSPC)) { try file.put(filled(1, 4096), at: 4096) }
        try file.put(filled(2, 4096))
        try file.syncData()
    }

    @Test("damage shows in files, in maps and after a crash")
    func shownDamage() throws {
        let disk = try disk()
        let file = try disk.open("a", .createNew)
        try file.put(filled(1, 4096) + filled(2, 4096) + filled(3, 4096))
        try disk.syncDirectory(of: "a")
        let map = try file.map(reserve: 1 << 20)
        func page(_ number: Int) throws -> UInt8 {
            let bytes = try file.get(4096, at: Int64(number * 4096))
            #expect(map.base.load(fromByteOffset: number * 4096 + 1, as: UInt8.self) == bytes[1])
            #expect(disk.crash(StateMask()).contents(of: "a")?[number * 4096 + 1] == bytes[1])
            #expect(Set(bytes).count == 1)
            return bytes[0]
        }
        try disk.swapPages(0, 2, in: "a")
        #expect(try [page(0), page(1), page(2)] == [3, 2, 1])
        try disk.copyPage(1, over: 2, in: "a")
        #expect(try [page(0), page(1), page(2)] == [3, 2, 2])
        try disk.zeroPage(1, in: "a")
        #expect(try [page(0), page(1), page(2)] == [3, 0, 2])
        try disk.flipBit(4096 * 8 + 9, in: "a")
        #expect(try file.get(3, at: 4096) == [0, 2, 0])
        try disk.cut("a", to: 4097)
        #expect(try file.get(4096, at: 4096) == [0])
        #expect(map.base.load(fromByteOffset: 4097, as: UInt8.self) == 0)
        #expect(throws: FileError(.write, path: "a", errno: EINVAL)) { try disk.zeroPage(1, in: "a") }
        #expect(throws: FileError(.write, path: "b", errno: ENOENT)) { try disk.flipBit(0, in: "b") }
    }

    @Test("an aged page holds what it held before")
    func agedPage() throws {
        let disk = try disk()
        let file = try disk.open("a", .createNew)
        for value in UInt8(1)...4 { try file.put(filled(value, 4096)) }
        #expect(disk.pageVersions(0, in: "a").map { $0[0] } == [1, 2, 3, 4])
        let copy = disk.kill()
        #expect(try copy.agePage(0, by: 3, in: "a"))
        #expect(copy.contents(of: "a") == filled(1, 4096))
        #expect(try disk.agePage(0, in: "a"))
        #expect(disk.contents(of: "a") == filled(3, 4096))
        #expect(try !disk.agePage(0, in: "a"))
    }
}
