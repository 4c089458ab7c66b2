import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// A process that waits for its turn once waited for ever if it was offered one that it could not accept: no other
/// process that asked, and no deadline, ended its wait. Several tables of one process stand for several processes.
@Suite(.serialized, .enabled(if: POSIXFileSystem().isShared))
struct OfferedTurnTests {
    private typealias Layout = ProcessTable.Layout

    private let directory: TemporaryDirectory
    private let path: String
    private let losing = LosingFiles()
    private var options: StoreOptions {
        var options = StoreOptions()
        options.fileSystem = losing
        return options
    }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    /// The owner of writing, and a process that attached after it.
    private func pair() throws -> (owner: ProcessTable, guest: ProcessTable) {
        let owner = try ProcessTable.make(try losing.open(path, .createNew), options, path: path)
        _ = try owner.ownership.awaitTurn(until: .never, acceptsGrant: false, storePath: path)
        return (owner, try attach())
    }

    private func attach() throws -> ProcessTable {
        try ProcessTable.attach(try losing.open(path, .write), options, path: path)
    }

    /// A thread of the guest that waits for its turn.
    private final class Asker: Sendable {
        enum End: Equatable {
            case owner, guest
            case failed(StorageError)
        }

        private let table: ProcessTable
        private let end = Mutex<End?>(nil)

        init(_ table: ProcessTable, path: String, microseconds: Int) {
            self.table = table
            let scheduling = SystemScheduling()
            _ = scheduling.spawn("asker") { [self] in
                let found: End
                do throws(StorageError) {
                    let deadline = scheduling.deadline(after: microseconds)
                    switch try table.ownership.awaitTurn(until: deadline, acceptsGrant: true, storePath: path) {
                    case .ownership: found = .owner
                    case .grant: found = .guest
                    }
                } catch {
                    found = .failed(error)
                }
                end.withLock { $0 = found }
            }
            while table.slots.file.memory[table.slots.ownWords.ticket] == 0 { scheduling.pause(microseconds: 100) }
        }

        /// How the wait ended; nil if it went on for much longer than a look at the owner takes.
        func result() -> End? {
            for _ in 0..<5000 {
                if let found = end.withLock({ $0 }) { return found }
                SystemScheduling().pause(microseconds: 1000)
            }
            // Ends the thread.
            table.slots.file.memory[Layout.owner] = UInt32(table.slots.own + 1)
            return nil
        }
    }

    private static let base = PublishedVersion(
        number: 0, version: 1, root: .null, file: FileExtent(pages: 4, contents: 4))

    /// Does what ``Grants/lend(to:_:)`` does. The caller holds the table's lock, so that the guest does not accept yet.
    private func offer(_ owner: ProcessTable, to slot: Int) {
        let memory = owner.slots.file.memory
        var base = Self.base
        base.number = memory[Layout.lastGrant] &+ 1
        memory[Layout.lastGrant] = base.number
        owner.versions.put(base, Layout.base)
        memory[Layout.slot(slot).grant] = GrantWord(base.number, .offered).bits
        memory[Layout.slot(slot).ticket] = 0
    }

    @Test("a process becomes the owner if the one that offered it a turn died and another one took its slot")
    func takenSlot() throws {
        let (owner, guest) = try pair()
        let asker = Asker(guest, path: path, microseconds: 60_000_000)
        try owner.slots.file.withLock { () throws(StorageError) in
            offer(owner, to: guest.slots.own)
            // The new process does so before the guest looks at its offer.
            owner.slots.clear(owner.slots.own)
            owner.abandon()
        }
        let next = try attach()
        #expect(next.slots.own == owner.slots.own)
        #expect(asker.result() == .owner)
    }

    @Test("the wait ends at its deadline if the base of the offered turn is damaged")
    func damagedBase() throws {
        let (owner, guest) = try pair()
        let asker = Asker(guest, path: path, microseconds: 300_000)
        try owner.slots.file.withLock { () throws(StorageError) in
            offer(owner, to: guest.slots.own)
            owner.slots.file.memory[Layout.base.checksum] ^= 1
        }
        #expect(asker.result() == .failed(.busy(path: path)))
        #expect(GrantWord(owner.slots.file.memory[guest.slots.ownWords.grant]).state == GrantState.none)
    }

    @Test("the owner offers no turn whose base the table does not keep") func lostBase() throws {
        let (owner, guest) = try pair()
        let memory = owner.slots.file.memory
        memory[guest.slots.ownWords.ticket] = 1
        losing.loses.store(true, ordering: .relaxed)
        #expect(try owner.grants.lend(to: guest.slots.own, Self.base) == nil)
        #expect(GrantWord(memory[guest.slots.ownWords.grant]).state == GrantState.none)
        #expect(memory[guest.slots.ownWords.ticket] == 1, "the process waits no longer")
        losing.loses.store(false, ordering: .relaxed)
        let grant = try #require(try owner.grants.lend(to: guest.slots.own, Self.base))
        #expect(try guest.grants.take() == grant)
    }
}

/// Files whose mappings lose the checksum of a turn's base on request.
private final class LosingFiles: FileSystemLayer {
    let base = POSIXFileSystem()
    let loses = Atomic<Bool>(false)

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        LosingFile(base: try base.open(path, mode), self)
    }
}

private final class LosingFile: FileLayer {
    let base: any File
    private let files: LosingFiles

    init(base: any File, _ files: LosingFiles) {
        self.base = base
        self.files = files
    }

    func mapShared(count: Int) throws(FileError) -> any SharedMemory {
        LosingMemory(try base.mapShared(count: count), files)
    }
}

private final class LosingMemory: SharedMemory {
    private let base: any SharedMemory
    private let files: LosingFiles

    init(_ base: any SharedMemory, _ files: LosingFiles) {
        self.base = base
        self.files = files
    }

    var count: Int { base.count }
    var isIntact: Bool { base.isIntact }
    func load32(_ offset: Int) -> UInt32 { base.load32(offset) }
    func load64(_ offset: Int) -> UInt64 { base.load64(offset) }
    func store32(_ offset: Int, _ value: UInt32) { base.store32(offset, value) }
    func store64(_ offset: Int, _ value: UInt64) {
        let isLost = offset == ProcessTable.Layout.base.checksum.offset && files.loses.load(ordering: .relaxed)
        base.store64(offset, isLost ? ~value : value)
    }
    func exchange64(_ offset: Int, expected: UInt64, with new: UInt64) -> Bool {
        base.exchange64(offset, expected: expected, with: new)
    }
    func increment32(_ offset: Int) { base.increment32(offset) }
    func fence() { base.fence() }
    func wait(_ offset: Int, while value: UInt32, microseconds: Int) {
        base.wait(offset, while: value, microseconds: microseconds)
    }
    func ring(_ offset: Int) { base.ring(offset) }
}
