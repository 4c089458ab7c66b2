import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// After the death of the process that owned writing, the next owner replays the log: it publishes the newest version
/// again, with other pages. A reader in a third process may have pinned that version before, and pins it once more.
///
/// The pins of that reader were once counted as one. Its process then freed pages that a snapshot still read, left the
/// process table with a snapshot open, or kept a pin for ever.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct RepublishedVersionTests {
    private static let rows = 8
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Two stores of this process on one file, and two snapshots of one version.
    private struct Scene {
        let heir: Store
        let reader: Store
        /// Pinned without the lock, as the dead process published the version.
        let before: Snapshot
        /// Pinned as the heir has published it.
        let after: Snapshot
    }

    private func scene() throws -> Scene {
        let path = directory.path + "/store"
        let owner = try StoreWorkerProcess(path, ["increment", "2", "times=8", "short", "stay"], name: "owner")
        try owner.waitFor("s")
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        let reader = try Store.open(path: path, options: options)
        let heir = try Store.open(path: path, options: options)
        _ = try reader.snapshot()
        let before = try reader.snapshot()
        #expect(
            !reader.commits.withState { $0.visible.isPinned }, "the pin is counted, and not in the table of versions")
        owner.end(SIGKILL)
        try heir.beginWrite().rollback()
        let after = try reader.snapshot()
        #expect(after.version == before.version)
        #expect(after.view.state.root != before.view.state.root, "the heir did not replay the log")
        return Scene(heir: heir, reader: reader, before: before, after: after)
    }

    private static func values(_ snapshot: Snapshot) throws -> [Int64?] {
        try (0..<Int64(rows)).map { row in
            try snapshot.view.locate(0, RowKey(row)).flatMap { try snapshot.view.integer($0, 0) }
        }
    }

    /// Commits that allocate and free pages.
    private static func write(_ store: Store) throws {
        for value in 0..<60 as Range<Int64> {
            let transaction = try store.beginWrite()
            for row in 1..<Int64(rows) { try transaction.set(0, RowKey(row), column: 0, to: .integer(value)) }
            try transaction.commit()
        }
    }

    enum Held: CaseIterable, Sendable { case before, after }

    @Test("the process becomes the owner, and its snapshot keeps its pages", arguments: Held.allCases)
    func kept(held: Held) throws {
        var scene: Scene? = try scene()
        let (heir, reader) = try (#require(scene?.heir), #require(scene?.reader))
        let snapshot = try #require(held == .before ? scene?.before : scene?.after)
        // Releases the other snapshot.
        scene = nil
        let values = try Self.values(snapshot)
        #expect(reader.commits.withState { $0.visible.isPinned })
        try Self.write(reader)
        #expect(try Self.values(snapshot) == values)
        try withExtendedLifetime(snapshot) {
            try reader.close()
            #expect(reader.processes?.isEnded == false, "the process has left the table with a snapshot")
            #expect(heir.processes?.pins.foreign.contains(snapshot.version.rawValue) == true)
        }
        try heir.close()
    }

    @Test("once both snapshots are released, no pin is left, and versions are freed") func released() throws {
        var scene: Scene? = try scene()
        let (heir, reader) = try (#require(scene?.heir), #require(scene?.reader))
        scene = nil
        #expect(!reader.commits.withState { $0.visible.isPinned })
        #expect(heir.processes?.pins.foreign == [])
        try Self.write(heir)
        #expect(heir.activeVersions == 1)
        try reader.close()
        try heir.checkInvariants()
        try heir.close()
    }
}
