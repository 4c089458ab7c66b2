import CStrataShim
package import StrataFiles
internal import Synchronization

/// What is known of the damage of one open store, in this process and, by a file beside the store, in all of them.
///
/// A reader that meets a page it cannot use tells the register. From then on no transaction begins, in any process,
/// until the program has acknowledged the places that are known; a new place refuses again. Where the record cannot be
/// written, on a full disk or a medium that is only read, what this process knows holds for this process.
///
/// Concurrency: every member may be called from any thread.
package final class DamageRegister: Sendable {
    private let record: DamageRecord
    private let storePath: String
    private let scheduling: any Scheduling
    private let processes: ProcessTable?
    private let isShared: Bool
    private let state = Mutex(State())
    /// Grows with every change of what this process knows, and 0 while nothing is known to be damaged. For readers that
    /// look at each read: a word, valid as long as the register.
    package nonisolated(unsafe) let changes: UnsafePointer<UInt32>
    private let refuses = Atomic<Bool>(false)
    private let untold = Atomic<Bool>(false)
    private let emptyStart = ClosedFlag()
    /// What the table of the processes said when the record was last read.
    private let seen = Atomic<UInt32>(0)

    private struct State {
        var contents = DamageRecord.Contents()
        /// Of ``DamageRecord/Contents/places``, so that each stands there once.
        var known: Set<DamagedPlace> = []
        /// Those that this process has told the program of.
        var told: Set<DamagedPlace> = []
        /// Their pages.
        var pages: Set<PageNumber> = []
        /// Tables that a survey has found whole: nothing of them is looked at row by row.
        var whole: Set<TableID> = []
        /// Rows of a damaged table, by the node that its tree began with.
        var rows: [TableID: (tree: NodeReference, rows: ReadableRows)] = [:]
    }

    init(path: String, storeID: RandomID, options: StoreOptions, processes: ProcessTable?) {
        record = DamageRecord(
            path: DamageRecord.path(path), storeID: storeID, fileSystem: options.fileSystem)
        storePath = path
        scheduling = options.scheduling
        self.processes = processes
        isShared = options.fileSystem.isPersistent
        let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        word.initialize(to: 0)
        changes = UnsafePointer(word)
        readRecord()
    }

    deinit { changes.deallocate() }

    /// Removes the record of a store that is removed, replaced or mended.
    package static func removeRecord(ofStoreAt path: String, _ fileSystem: any FileSystem) {
        let record = DamageRecord.path(path)
        do throws(FileError) { if try fileSystem.status(record) != nil { try fileSystem.remove(record) } } catch {}
    }

    // MARK: Asking

    /// 0 while nothing is known to be damaged; another number after each change. O(1), without a lock.
    @inline(__always)
    package var generation: UInt32 {
        followOthers()
        return strata_load32(changes)
    }

    /// Reads the record again where another process has changed it: at the begin of each transaction, and whenever a
    /// reader takes another version. O(1), without a lock, where none has.
    package func followOthers() {
        if let processes, processes.damageChanges != seen.load(ordering: .relaxed) { readRecord() }
    }

    /// Every place that is known, in the order in which they were found, and whether the program has acknowledged it.
    package var places: [(place: DamagedPlace, isAcknowledged: Bool)] {
        _ = generation
        return state.withLock { state in
            state.contents.places.enumerated().map { ($1, $0 < state.contents.acknowledged) }
        }
    }

    /// Whether the program has acknowledged a place, or a page of which it has acknowledged another loss.
    package func isAcknowledged(_ place: DamagedPlace) -> Bool {
        state.withLock { state in
            state.contents.places.prefix(state.contents.acknowledged).contains {
                $0 == place || $0.page == place.page && place.page.rawValue != 0
            }
        }
    }

    /// Whether a place is known that the program has not acknowledged.
    package var refusesWrites: Bool {
        _ = generation
        return refuses.load(ordering: .acquiring)
    }

    /// - Throws: `damaged` while a place is known that the program has not acknowledged.
    package func checkWrites() throws(StorageError) {
        if refusesWrites { throw .damaged(path: storePath, places: places.count) }
    }

    /// Whether what is lost with the page of a place is known, or the place itself where it has no page.
    package func knows(_ place: DamagedPlace) -> Bool {
        state.withLock { state in
            place.page.rawValue == 0 ? state.known.contains(place) : state.pages.contains(place.page)
        }
    }

    /// Whether elements of a collection, or a long value, of a row are known to be lost.
    package func isValueDamaged(_ table: TableID, row: Int64, column: UInt16) -> Bool {
        state.withLock { state in
            state.contents.places.contains { $0.table == table && $0.loss == .value(row: row, column: column) }
        }
    }

    /// Whether a place is known that this process has not told the program of.
    package var hasUntold: Bool { untold.load(ordering: .acquiring) }

    /// The places that this process has not told the program of; the caller tells it.
    package func takeUntold() -> [DamagedPlace] {
        if !hasUntold { return [] }
        return state.withLock { state in
            untold.store(false, ordering: .releasing)
            let places = state.contents.places.filter { !state.told.contains($0) }
            state.told.formUnion(places)
            return places
        }
    }

    // MARK: Telling

    /// The file had no byte when it was opened, and is a new store now. It was made so, or a store was cut to nothing.
    package var startedEmpty: Bool { emptyStart.isSet }

    func noteEmptyStart() { _ = emptyStart.set() }

    /// Notes places that could not be read.
    package func note(_ places: [DamagedPlace]) {
        let new = state.withLock { state in
            var fresh: [DamagedPlace] = []
            for place in places where state.known.insert(place).inserted {
                fresh.append(place)
                state.pages.insert(place.page)
            }
            for place in fresh { if let table = place.table { state.whole.remove(table) } }
            return fresh
        }
        if new.isEmpty { return }
        write { contents in
            let known = Set(contents.places)
            return (new.filter { !known.contains($0) }, false)
        }
    }

    /// The program knows of every place so far, and goes on.
    package func acknowledge() { write { contents in ([], contents.acknowledged < contents.places.count) } }

    /// Writes to the record where there is one, and in any case to what this process knows.
    private func write(_ lines: (DamageRecord.Contents) -> (places: [DamagedPlace], isAck: Bool)) {
        if isShared {
            let before = processes?.damageChanges ?? 0
            do throws(FileError) {
                let contents = try record.add(beside: storePath, scheduling, lines)
                // Places that this process alone knows, from when the record could not be written, stay.
                adopt(contents)
                processes?.damageDidChange()
                // Where another process changed the record meanwhile, it is read again.
                seen.store(processes == nil ? 0 : before &+ 1, ordering: .relaxed)
                return
            } catch {}
        }
        var contents = state.withLock { $0.contents }
        let (places, isAck) = lines(contents)
        contents.places += places
        if isAck { contents.acknowledged = contents.places.count }
        adopt(contents)
    }

    private func readRecord() {
        guard isShared else { return }
        let now = processes?.damageChanges ?? 0
        let contents: DamageRecord.Contents?
        do throws(FileError) { contents = try record.read() } catch { contents = nil }
        seen.store(now, ordering: .relaxed)
        if let contents, !contents.places.isEmpty { adopt(contents) }
    }

    private func adopt(_ contents: DamageRecord.Contents) {
        let mustRefuse = state.withLock { state in
            state.contents = contents
            state.known.formUnion(contents.places)
            state.pages.formUnion(contents.places.map(\.page))
            for place in contents.places { if let table = place.table { state.whole.remove(table) } }
            if !state.told.isSuperset(of: contents.places) { untold.store(true, ordering: .releasing) }
            return contents.acknowledged < contents.places.count
        }
        refuses.store(mustRefuse, ordering: .releasing)
        strata_increment32(UnsafeMutableRawPointer(mutating: changes))
    }

    // MARK: Rows

    /// The rows of a table that can be read, once damage of the store is known; nil where the table is whole.
    /// - Throws: what is no damage.
    /// - Complexity: a walk over the table, once per version that changed it; of a table that is whole once.
    package func readableRows(_ table: Int, _ view: ReadView) throws(StorageError) -> ReadableRows? {
        let id = view.schema.tables[table].id
        let tree = view.rowTree(table)
        let (isWhole, known) = state.withLock { ($0.whole.contains(id), $0.rows[id]) }
        if isWhole { return nil }
        if let known, known.tree == tree, !tree.isInArena { return known.rows }
        let found = try view.readableRows(table)
        note(found.places)
        let isDamaged = state.withLock { state in
            if found.places.isEmpty, !state.contents.places.contains(where: { $0.table == id }) {
                state.whole.insert(id)
                return false
            }
            if !tree.isInArena { state.rows[id] = (tree, found) }
            return true
        }
        return isDamaged ? found : nil
    }
}
