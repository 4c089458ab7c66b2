import Foundation
import Strata
import StrataFiles
import Synchronization
import Testing

/// The platform's files on a disk that can be full, or be disconnected.
private final class FailingFileSystem: FileSystemLayer {
    enum Failure { case none, space, sync }

    let base = POSIXFileSystem()
    let failure = Mutex(Failure.none)

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        FailingFile(base: try base.open(path, mode), self)
    }
}

private final class FailingFile: FileLayer {
    let base: any File
    private let owner: FailingFileSystem

    init(base: any File, _ owner: FailingFileSystem) {
        self.base = base
        self.owner = owner
    }

    private func refuse(_ failure: FailingFileSystem.Failure, _ operation: FileError.Operation, _ errno: Int32)
        throws(FileError)
    {
        if owner.failure.withLock({ $0 }) == failure { throw FileError(operation, path: path, errno: errno) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        try refuse(.space, .write, 28)
        try base.write(bytes, at: offset)
    }
    func preallocate(to size: Int64) throws(FileError) {
        try refuse(.space, .preallocate, 28)
        try base.preallocate(to: size)
    }
    func syncData() throws(FileError) {
        try refuse(.sync, .sync, 5)
        try base.syncData()
    }
}

/// A Realm has no close: its file is closed when the last Realm is released, and a failure of that close was reported
/// to no caller.
@Suite struct CloseFailureTests {
    private let file = TemporaryFile()
    private let disk = FailingFileSystem()
    private let told = Locked<[Realm.Error]>([])

    private func configuration(_ durability: Realm.Configuration.Durability) -> Realm.Configuration {
        var configuration = file.configuration([Note.self])
        configuration.durability = durability
        configuration.closeFailureHandler = { [told] error in told.with { $0.append(error) } }
        return configuration
    }

    private func open(_ durability: Realm.Configuration.Durability = .none) throws -> Realm {
        try Realm(configuration: configuration(durability), fileSystem: disk)
    }

    private func ranks(_ realm: Realm) -> [Int] { realm.objects(Note.self).map(\.rank).sorted() }

    /// Adds a note, and releases the Realm under a failure.
    private func add(
        _ rank: Int, _ durability: Realm.Configuration.Durability = .none, failing: FailingFileSystem.Failure
    ) throws {
        let realm = try open(durability)
        try realm.write { realm.add(Note("note", rank: rank)) }
        disk.failure.withLock { $0 = failing }
    }

    @Test("a close that fails on a full disk is reported, and the next open has all of it")
    func closeOnAFullDisk() throws {
        do { _ = try open() }
        try autoreleased { try add(1, failing: .space) }
        #expect(told.current.map(\.code) == [.outOfDiskSpace])
        #expect(told.current.first?.message.contains(file.url.path) == true)
        // It still cannot be closed: the next Realm continues with the store in memory.
        try autoreleased {
            let realm = try open()
            #expect(ranks(realm) == [1])
        }
        #expect(told.current.count == 2)
        // It cannot be opened now with another key, or read-only.
        var reading = configuration(.none)
        reading.readOnly = true
        #expect(throws: Realm.Error.self) { _ = try Realm(configuration: reading, fileSystem: disk) }
        disk.failure.withLock { $0 = .none }
        try autoreleased {
            let realm = try Realm(configuration: reading, fileSystem: disk)
            #expect(ranks(realm) == [1])
        }
        try autoreleased { try add(2, failing: .none) }
        #expect(told.current.count == 2)
        #expect(try ranks(Realm(configuration: file.configuration([Note.self]))) == [1, 2])
    }

    @Test("a file that could not be closed can be deleted")
    func unclosedFileIsDeleted() throws {
        do { _ = try open() }
        try autoreleased { try add(1, failing: .space) }
        #expect(told.current.count == 1)
        disk.failure.withLock { $0 = .none }
        var configuration = configuration(.none)
        configuration.files = disk
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(try ranks(open()) == [])
    }

    @Test(
        "a failed sync in the close is told, with its meaning", arguments: [Realm.Configuration.Durability.full, .none])
    func failedSyncInClose(durability: Realm.Configuration.Durability) throws {
        do { _ = try open(durability) }
        for rank in 0..<4 { try autoreleased { try add(rank, durability, failing: .none) } }
        try autoreleased {
            let realm = try open(durability)
            for rank in 4..<8 { try realm.write { realm.add(Note("note", rank: rank)) } }
            disk.failure.withLock { $0 = .sync }
        }
        let message = told.current.first?.message ?? ""
        #expect(told.current.count == 1)
        #expect(message.contains(durability == .full ? "the next open replays them" : "may be lost"), "\(message)")
        disk.failure.withLock { $0 = .none }
        let found = try ranks(open(durability))
        #expect(found == Array(0..<8) || durability == .none && Array(0..<8).starts(with: found))
    }

    private func autoreleased(_ body: () throws -> Void) throws { try body() }
}
