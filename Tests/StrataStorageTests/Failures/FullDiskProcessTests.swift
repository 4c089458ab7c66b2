import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Real full disks, while other processes have the store open.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct FullDiskProcessTests {
    /// A file that takes a disk's last pages, and gives them back.
    private struct Filler {
        let path: String

        init(_ disk: MountedDisk) throws {
            path = disk.path + "/fill"
            let file = try POSIXFileSystem().open(path, .createNew)
            defer { file.close() }
            var size: Int64 = 0
            for step in [1 << 16, 1 << 12, 1 << 9] as [Int] {
                let bytes = [UInt8](repeating: 1, count: step)
                do {
                    while size < 1 << 30 {
                        try bytes.withUnsafeBytes { try file.write($0, at: size) }
                        size += Int64(step)
                    }
                } catch let error as FileError { #expect(error.isNoSpace, "\(error)") }
            }
        }

        func remove() { unlink(path) }
    }

    private static func options() -> StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 28
        options.logHalfBytes = 16 << 10
        options.writeTimeout = 20_000_000
        return options
    }

    /// A recovery beside other processes writes only to pages that they cannot be reading, after the contents. If there
    /// is no room for that, the recovering process must make no checkpoint, since its free map belongs to an older
    /// version.
    @Test(
        "a recovery beside others that finds the disk full is an error, and loses nothing",
        arguments: [3, 6, 9, 13] as [Int], [true, false])
    func recovery(commits: Int, closes: Bool) throws {
        // Three logged commits fit into the room that the file has reserved. So do more commits, if the owner made a
        // checkpoint before it died; then the disk is filled again.
        let tries = commits > 3 ? 5 : 1
        var isFull: Bool?
        for _ in 0..<tries where isFull != true { isFull = try meetsFullDisk(commits: commits, closes: closes) }
        if commits > 3, isFull == false { Issue.record("there was room each time: the disk is not full") }
    }

    /// - Returns: whether the recovery lacked room; nil if no small file system can be mounted.
    private func meetsFullDisk(commits: Int, closes: Bool) throws -> Bool? {
        guard let disk = try MountedDisk(.tmpfs, megabytes: 4) else { return nil }
        let path = disk.path + "/store"
        let owner = try StoreWorkerProcess(path, ["increment", "1", "times=\(commits)", "stay"], name: "owner")
        try owner.waitFor("s")
        let store = try Store.open(path: path, options: Self.options())
        var pinned: Snapshot? = try store.snapshot()
        let filler = try Filler(disk)
        owner.end(SIGKILL)
        // A read-only open needs no room, and a retry changes nothing.
        var refusals = 0
        for _ in 0..<2 {
            do { try store.beginWrite().rollback() } catch {
                #expect(error.isNoSpace, "\(error)")
                refusals += 1
            }
        }
        #expect(refusals != 1, "the second try gives another result than the first")
        do {
            let view = try #require(pinned).view
            let place = try #require(try view.locate(0, RowKey(1)))
            #expect(try view.integer(place, 0) == Int64(commits))
        }
        if closes {
            pinned = nil
            do { try store.close() } catch { #expect(error.isNoSpace, "\(error)") }
            filler.remove()
        } else {
            // No process has to close the store: the commit succeeds as soon as there is room.
            filler.remove()
            try store.beginWrite().rollback()
            pinned = nil
            try store.close()
        }
        let again = try Store.open(path: path, options: Self.options())
        try again.checkInvariants()
        for row in 0...1 as ClosedRange<Int64> {
            let view = try again.snapshot().view
            #expect(try view.integer(try #require(try view.locate(0, RowKey(row))), 0) == Int64(commits))
        }
        // A transaction that takes free pages must not take any that is in use.
        let transaction = try again.beginWrite()
        try transaction.apply(schema: StoreSchema(userVersion: 1, tables: transaction.view.schema.tables))
        transaction.rollback()
        try again.close()
        return refusals == 2
    }

    @Test("a guest empties a store on a full disk", arguments: [Durability.full, .periodic])
    func guestDeletes(durability: Durability) throws {
        guard let disk = try MountedDisk(.tmpfs, megabytes: 2) else { return }
        let path = disk.path + "/store"
        var options = Self.options()
        options.durability = durability
        let owner = try Store.open(path: path, options: options)
        try PlainTable.setUp(owner)
        let guest = try Store.open(path: path, options: options)
        var count: Int64 = 0
        while count < 100_000 {
            do {
                try PlainTable.insert(owner, count..<(count + 7))
                count += 7
            } catch {
                #expect(error.isNoSpace, "\(error)")
                break
            }
        }
        let filler = try Filler(disk)
        let before = CoverageMarks.hits[.lentTurn] ?? 0
        for key in 0..<count {
            do { try PlainTable.delete(guest, [key]) } catch {
                Issue.record("deleting row \(key) of \(count): \(error)")
                break
            }
            if key % 200 == 0 { #expect(try PlainTable.keys(owner.snapshot().view) == Array((key + 1)..<count)) }
        }
        if CoverageMarks.areCounted { #expect((CoverageMarks.hits[.lentTurn] ?? 0) > before) }
        // Both can reuse the freed pages.
        try PlainTable.insert(guest, 0..<(count / 8))
        try PlainTable.insert(owner, (count / 8)..<(count / 4))
        try owner.checkInvariants()
        try guest.close()
        try owner.close()
        let again = try Store.open(path: path, options: options)
        #expect(try PlainTable.keys(again.snapshot().view) == Array(0..<(count / 4)))
        try again.checkInvariants()
        try again.close()
        filler.remove()
    }
}

/// Full disks of real file systems: some need space for overwrites, and all need some for themselves.
@Suite(.serialized)
struct FullFileSystemTests {
    private static func insert(_ store: Store, _ keys: Range<Int64>) throws {
        let transaction = try store.beginWrite()
        let text = [UInt8](repeating: 66, count: 2000)
        do {
            for key in keys {
                try text.withUnsafeBytes { text in
                    try [Cell.integer(key), .bytes(text)].withUnsafeBufferPointer {
                        try transaction.insert(0, key: RowKey(key), $0)
                    }
                }
            }
        } catch {
            transaction.rollback()
            throw error
        }
        try transaction.commit()
    }

    @Test(
        "a full file system keeps the rows, and can be emptied by deleting", arguments: MountedDisk.Kind.allCases,
        [Durability.full, .none])
    func fill(kind: MountedDisk.Kind, durability: Durability) throws {
        guard let disk = try MountedDisk(kind, megabytes: 24) else { return }
        let path = disk.path + "/store"
        var options = StoreOptions(durability: durability)
        options.mapReserve = 1 << 30
        var store = try Store.open(path: path, options: options)
        try PlainTable.setUp(store)
        let scheduling = SystemScheduling()
        let end = scheduling.deadline(after: 60_000_000)
        // A ballast file takes all but 24 MiB of the larger images.
        if disk.megabytes > 24 {
            let ballast = try POSIXFileSystem().open(disk.path + "/ballast", .createNew)
            let available = try POSIXFileSystem().availableBytes(beside: path) ?? 0
            do { try ballast.preallocate(to: max(0, available - (24 << 20))) } catch { #expect(error.isNoSpace) }
            ballast.close()
        }
        var count: Int64 = 0
        let batch: Int64 = 500
        while scheduling.remaining(until: end) > 0 {
            do {
                try Self.insert(store, count..<(count + batch))
                count += batch
            } catch {
                #expect(error.isNoSpace, "\(error)")
                break
            }
        }
        #expect(count > 2 * batch && scheduling.remaining(until: end) > 0, "\(kind): \(count) rows")
        // Inserts rows one by one until none fits; the remaining room is reserved for deletions.
        for step in [50, 1] as [Int64] {
            while scheduling.remaining(until: end) > 0 {
                do {
                    try Self.insert(store, count..<(count + step))
                    count += step
                } catch {
                    #expect(error.isNoSpace, "\(error)")
                    break
                }
            }
        }
        #expect(try store.snapshot().view.rowCount(0) == Int(count))
        // Deleting in small steps has to work on the full disk.
        for key in 0..<(count / 2) where key % 50 == 0 { try PlainTable.delete(store, key..<min(key + 50, count / 2)) }
        try store.close()
        store = try Store.open(path: path, options: options)
        #expect(try store.snapshot().view.keys(0) == Array((count / 2)..<count))
        try store.checkInvariants()
        try Self.insert(store, 0..<(count / 4))
        try store.close()
        store = try Store.open(path: path, options: options)
        #expect(try store.snapshot().view.rowCount(0) == Int(count / 4 + count - count / 2))
        try store.checkInvariants()
        try store.close()
    }
}
