import FaultModel
import Platform
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

extension File {
    func put(_ bytes: [UInt8], at offset: Int64 = 0) throws(FileError) {
        let failure: FileError? = bytes.withUnsafeBytes { buffer in
            do throws(FileError) {
                try write(buffer, at: offset)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    func get(_ count: Int, at offset: Int64 = 0) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }
}

func filled(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

@Suite struct SimulatedDiskTests {
    let disk = SimulatedDisk(seed: Seed(1))

    /// A file whose name and contents are on disk.
    private func settled(_ path: String, _ bytes: [UInt8]) throws -> any File {
        let file = try disk.open(path, .createOrOpen)
        try file.put(bytes)
        try file.syncData()
        try disk.syncDirectory(of: path)
        return file
    }

    @Test("a file reads back what was written")
    func readsBack() throws {
        let file = try disk.open("a", .createNew)
        try file.put([1, 2, 3], at: 5)
        #expect(try file.size() == 8)
        #expect(try file.get(100) == [0, 0, 0, 0, 0, 1, 2, 3])
        #expect(try file.get(2, at: 7) == [3])
        #expect(try file.get(2, at: 100) == [])
        try file.truncate(to: 6)
        try file.preallocate(to: 9)
        try file.preallocate(to: 2)
        #expect(try file.get(100) == [0, 0, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test("an open follows its mode")
    func openModes() throws {
        #expect(throws: FileError(.open, path: "a", errno: ENOENT)) { try disk.open("a", .read) }
        #expect(throws: FileError(.open, path: "a", errno: ENOENT)) { try disk.open("a", .write) }
        let file = try disk.open("a", .createNew)
        #expect(throws: FileError(.open, path: "a", errno: EEXIST)) { try disk.open("a", .createNew) }
        let reader = try disk.open("a", .read)
        #expect(throws: FileError(.write, path: "a", errno: EBADF)) { try reader.put([1]) }
        file.close()
        file.close()
        #expect(throws: FileError(.write, path: "a", errno: EBADF)) { try file.put([1]) }
    }

    @Test("an inode stays with its file, and is never given twice")
    func inodes() throws {
        let file = try disk.open("a", .createNew)
        let inode = try file.status().inode
        try disk.rename("a", to: "b")
        #expect(try disk.status("b")?.inode == inode)
        #expect(try disk.status("a") == nil)
        try disk.remove("b")
        #expect(throws: FileError(.remove, path: "b", errno: ENOENT)) { try disk.remove("b") }
        let other = try disk.open("b", .createNew)
        #expect(try other.status().inode != inode)
        try file.put([9])
        #expect(try file.get(1) == [9])
        #expect(try other.size() == 0)
    }

    @Test("a map shows later writes at the same address")
    func mapShowsLaterWrites() throws {
        let file = try disk.open("a", .createNew)
        try file.put(filled(1, 5000))
        let map = try file.map(reserve: 1 << 30)
        let base = map.base
        #expect(base.load(fromByteOffset: 4999, as: UInt8.self) == 1)
        #expect(base.load(fromByteOffset: 5000, as: UInt8.self) == 0)
        try file.put(filled(2, 9000), at: 4000)
        #expect(base.load(fromByteOffset: 12999, as: UInt8.self) == 2)
        try file.truncate(to: 4100)
        #expect(base.load(fromByteOffset: 4099, as: UInt8.self) == 2)
        #expect(base.load(fromByteOffset: 4100, as: UInt8.self) == 0)
        #expect(map.base == base && map.count == 1 << 30)
    }

    @Test("address space that is used again holds nothing of its former file")
    func reusedAddressSpace() throws {
        let file = try disk.open("a", .createNew)
        try file.put(filled(1, 40_000))
        do { _ = try file.map(reserve: 1 << 20) }
        let other = try disk.open("b", .createNew)
        try other.put(filled(2, 100), at: 9_000)
        let map = try other.map(reserve: 1 << 20)
        let bytes = UnsafeRawBufferPointer(start: map.base, count: 50_000)
        #expect(Array(bytes) == filled(0, 9_000) + filled(2, 100) + filled(0, 40_900))
    }

    @Test("locks exclude other handles of the same disk")
    func excludingLocks() throws {
        let one = try disk.open("a", .createNew)
        let other = try disk.open("a", .write)
        #expect(try one.tryLock(byte: 3, exclusive: false))
        #expect(try other.tryLock(byte: 3, exclusive: false))
        #expect(try !one.tryLock(byte: 3, exclusive: true))
        #expect(try one.isLocked(byte: 3))
        try other.unlock(byte: 3)
        // A handle does not report its own lock as held.
        #expect(try !one.isLocked(byte: 3))
        #expect(try one.tryLock(byte: 3, exclusive: true))
        #expect(try other.isLocked(byte: 3))
        #expect(try !other.tryLock(byte: 3, exclusive: false))
        #expect(try other.tryLock(byte: 4, exclusive: true))
        one.close()
        #expect(try other.tryLock(byte: 3, exclusive: true))
    }

    @Test("a dead process keeps what it did not sync, and loses its locks")
    func deadProcess() throws {
        let file = try settled("a", filled(1, 512))
        try file.put(filled(2, 512))
        #expect(try file.tryLock(byte: 0, exclusive: true))
        let after = disk.kill()
        let again = try after.open("a", .write)
        #expect(try again.get(512) == filled(2, 512))
        #expect(try again.tryLock(byte: 0, exclusive: true))
        // The data is in the cache, not on disk.
        #expect(after.crash(StateMask()).contents(of: "a") == filled(1, 512))
        try again.syncData()
        #expect(after.crash(StateMask()).contents(of: "a") == filled(2, 512))
        #expect(disk.crash(StateMask()).contents(of: "a") == filled(1, 512))
    }

    @Test("a crash loses or keeps unsynced work as the mask says")
    func crashByAMask() throws {
        let file = try settled("a", filled(1, 1024))
        try file.put(filled(2, 512))
        try file.put(filled(3, 512), at: 512)
        #expect(disk.crash(StateMask()).contents(of: "a") == filled(1, 1024))
        #expect(disk.crash(StateMask(bits: [1])).contents(of: "a") == filled(1, 512) + filled(3, 512))
        #expect(disk.crash(StateMask(allBelow: 2)).contents(of: "a") == filled(2, 512) + filled(3, 512))
    }

    @Test("a crash can be chosen at any earlier operation")
    func crashAtEarlierOperation() throws {
        let file = try settled("a", filled(1, 512))
        let before = disk.operations
        try file.put(filled(2, 512))
        try file.syncData()
        try file.put(filled(3, 512))
        let address = try #require(CrashAddress("crash:op=\(before + 1),state=0x0"))
        #expect(disk.crash(at: address.steps[0])?.contents(of: "a") == filled(1, 512))
        #expect(disk.crash(at: .init(operation: before + 2, state: StateMask()))?.contents(of: "a") == filled(2, 512))
        #expect(disk.crash(at: .init(operation: before + 9, state: StateMask())) == nil)
    }

    @Test("the disk after a crash can crash again")
    func secondCrash() throws {
        let file = try settled("a", filled(1, 512))
        try file.put(filled(2, 512))
        let first = disk.crash(StateMask())
        let again = try first.open("a", .write)
        try again.put(filled(3, 512))
        #expect(first.trace.count == 1)
        #expect(first.crash(StateMask()).contents(of: "a") == filled(1, 512))
        #expect(first.crash(StateMask(bits: [0])).contents(of: "a") == filled(3, 512))
    }

    @Test("a sweep hands out disks of the whole history")
    func sweepOfAHistory() throws {
        let file = try disk.open("a", .createNew)
        try disk.syncDirectory(of: "a")
        try file.put(filled(1, 512))
        try file.syncData()
        var sweep = disk.sweep()
        var contents: [[UInt8]?] = []
        let report = sweep.visit { state in
            contents.append(disk.crash(state).contents(of: "a"))
            return true
        }
        #expect(contents == [nil, [], filled(0, 512), filled(1, 512)])
        #expect(report.points == 5)
        #expect(report.operations == 4)
        #expect(report.exhaustivePoints == 5)
    }

    @Test("random bits repeat for a seed")
    func repeatedRandomBits() throws {
        let other = SimulatedDisk(seed: Seed(1))
        let third = SimulatedDisk(seed: Seed(2))
        let bits = (0..<4).map { _ in disk.randomBits() }
        #expect(bits == (0..<4).map { _ in other.randomBits() })
        #expect(bits != (0..<4).map { _ in third.randomBits() })
        // A disk after a crash draws other bits, since a salt must not repeat.
        #expect(bits.first != disk.crash(StateMask()).randomBits())
    }

    @Test("records name the logical operation and the actor")
    func namedRecords() async throws {
        disk.setOperation("insert-3")
        let file = try disk.open("dir/a.log", .createNew)
        try file.put([1])
        try file.put([2])
        let disk = disk
        await Task.detached {
            // Another thread than the labelled one, which is blocked in the await.
            _ = try? disk.open("b", .createNew)
        }.value
        try disk.syncDirectory(of: "dir/a.log")
        let names = disk.trace.map(\.identity.description)
        #expect(
            names[0...2] == ["insert-3/main/log/create/0", "insert-3/main/log/write/0", "insert-3/main/log/write/1"])
        #expect(names[3].hasPrefix("insert-3/"))
        #expect(disk.trace.last?.action == .syncDirectory(path: "dir"))
    }
}
