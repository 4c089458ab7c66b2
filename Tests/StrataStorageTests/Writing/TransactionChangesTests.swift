import StrataFiles
import Testing

@testable import StrataStorage

/// The changes of a transaction without a store: neither a gate nor a log, a queue or a visible version exists.
@Suite struct TransactionChangesTests {
    /// Writes pages to a file, and has none to release.
    private final class Pages: PageWriting {
        let file: any File
        var written = 0
        var requests = 0

        init(_ file: any File) { self.file = file }

        func writePages(_ bytes: UnsafeRawBufferPointer, at page: Int) throws(StorageError) {
            written += bytes.count / Format.pageSize
            do { try file.write(bytes, at: Int64(page * Format.pageSize)) } catch { throw StorageError(error) }
        }

        func releaseHeldPages() throws(StorageError) -> Bool {
            requests += 1
            return false
        }
    }

    /// A turn whose claim succeeds at once.
    private final class Turn: LentTurn {
        var claims: [Bool] = []

        func claim(_ transaction: TransactionChanges, canRepeat: Bool) throws(StorageError) {
            claims.append(canRepeat)
            transaction.lentTurn = nil
            transaction.nodes.beforeFirstPage = nil
        }
    }

    /// A file that cannot grow.
    private final class FullFile: FileLayer {
        let base: any File
        init(_ base: any File) { self.base = base }
        func preallocate(to size: Int64) throws(FileError) { throw FileError(.preallocate, path: path, errno: 28) }
    }

    private let pages: Pages
    private let map: PageMap
    private let workspace: WriterWorkspace

    private init(isFull: Bool) throws {
        let fileSystem = MemoryFileSystem(capacity: 1 << 24)
        let base = try fileSystem.open("pages", .createNew)
        let file: any File = isFull ? FullFile(base) : base
        try file.truncate(to: Int64(Format.firstDataPage * Format.pageSize))
        map = try PageMap(
            file, reserve: 1 << 24, fileSystem: fileSystem, checks: .ofTrees, seed: NodeSeed(RandomID(1, 2)))
        let allocator = PageAllocator(
            lock: SystemScheduling().makeMonitor("pages"), map: map, file: file, growth: .standard,
            pageCount: Format.firstDataPage, fileCapacity: Format.firstDataPage)
        try allocator.openMap(.null)
        let arena = try Arena(capacity: 1 << 24)
        workspace = WriterWorkspace(
            TransactionNodes(
                reader: PageReader(map, arena: arena.base), arena: arena, allocator: allocator, file: file,
                limits: StoreLimits()))
        pages = Pages(file)
    }

    init() throws { try self.init(isFull: false) }

    private func begin(isReplay: Bool = false, turn: Turn? = nil) -> TransactionChanges {
        workspace.begin(.empty, recordLimit: Grants.recordLimit)
        return TransactionChanges(
            on: .empty, workspace, pageWriter: pages, listing: 10, isReplay: isReplay, lentTurn: turn)
    }

    private func insert(_ changes: TransactionChanges, _ key: Int64, text count: Int = 5) throws {
        let values: [Value] = [.integer(key * 2), .null, .bytes([UInt8](repeating: 7, count: count)), .double(0)]
        try StoreHistory.withCells(values[...]) { try changes.insert(CheckedStore.wide, key: RowKey(key), $0) }
    }

    private func integer(_ view: ReadView, _ key: Int64) throws -> Int64? {
        try view.locate(CheckedStore.wide, RowKey(key)).flatMap { try view.integer($0, 0) }
    }

    @Test("a view reads changes before they are placed, and a version's view after")
    func beforeAndAfterPlacing() throws {
        let changes = begin()
        #expect(changes.isEmpty)
        try changes.apply(schema: CheckedStore.schema)
        for key in 1...100 as ClosedRange<Int64> { try insert(changes, key) }
        #expect(!changes.isEmpty && pages.written == 0)
        #expect(try integer(changes.view, 7) == 14)
        #expect(try changes.view.rows(CheckedStore.wide, 0, equalTo: .integer(14)) == [RowKey(7)])
        try changes.flushAll()
        let made = try changes.place()
        changes.endUse(.committed)
        #expect(made.version == 1 && pages.written > 0)
        let view = ReadView(made, PageReader(map))
        #expect(try view.rowCount(CheckedStore.wide) == 100 && integer(view, 7) == 14)
    }

    @Test("the view cannot be read after the end of the changes")
    func endedChanges() throws {
        let changes = begin()
        try changes.apply(schema: CheckedStore.schema)
        try insert(changes, 1)
        changes.endUse(.undone)
        #expect(throws: StorageError.misuse(.transactionEnded)) { try changes.view.rowCount(CheckedStore.wide) }
        #expect(throws: StorageError.misuse(.transactionEnded)) { try insert(changes, 2) }
    }

    @Test("a guest claims ownership once, before an operation that needs pages")
    func claimedOnce() throws {
        let turn = Turn()
        let changes = begin(turn: turn)
        try changes.apply(schema: CheckedStore.schema)
        try insert(changes, 1)
        #expect(turn.claims == [])
        try insert(changes, 2, text: 5000)
        try insert(changes, 3, text: 5000)
        #expect(turn.claims == [true])
        #expect(try changes.view.rowCount(CheckedStore.wide) == 3)
        changes.endUse(.undone)
    }

    @Test("a guest claims ownership before a spill takes pages, and its changes cannot be repeated then")
    func claimBeforeSpill() throws {
        let turn = Turn()
        let changes = begin(turn: turn)
        try changes.apply(schema: CheckedStore.schema)
        try insert(changes, 1)
        try changes.spill()
        #expect(turn.claims == [false] && pages.written > 0)
        #expect(try integer(changes.view, 1) == 2)
        changes.endUse(.undone)
    }

    @Test("without space the changes ask for held pages, but not in a replay", arguments: [false, true])
    func withoutSpace(isReplay: Bool) throws {
        let full = try Self(isFull: true)
        let changes = full.begin(isReplay: isReplay)
        try changes.apply(schema: CheckedStore.schema)
        try full.insert(changes, 1)
        try changes.flushAll()
        var isNoSpace = false
        do throws(StorageError) { _ = try changes.place() } catch { if case .noSpace = error { isNoSpace = true } }
        #expect(isNoSpace && full.pages.requests == (isReplay ? 0 : 1) && full.pages.written == 0)
        changes.endUse(.undone)
    }
}
