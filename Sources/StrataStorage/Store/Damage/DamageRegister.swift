import CStrataShim
package import StrataFiles
internal import Synchronization

/// Known damage of one open store. Processes share it by a record, a file beside the store (``DamageRecord``).
///
/// A reader that finds an unreadable page notes it here. From then on no transaction begins, in any process, until the
/// program has acknowledged the known places; a new place makes the store refuse transactions again. If the record
/// cannot be written, on a full disk or a read-only medium, this process alone knows what it notes.
///
/// Concurrency: every member may be called from any thread.
package final class DamageRegister: Sendable {
    private let record: DamageRecord
    private let storePath: String
    private let scheduling: any Scheduling
    private let processes: ProcessTable?
    private let isShared: Bool
    private let state = Mutex(State())
    /// A word that readers poll at each read: 0 while no damage is known, and another number after every change of what
    /// this process knows. Valid as long as the register.
    package nonisolated(unsafe) let changes: UnsafePointer<UInt32>
    private let refuses = Atomic<Bool>(false)
    private let untold = Atomic<Bool>(false)
    private let emptyStart = ClosedFlag()
    /// The process table's count of changes when the record was last read.
    private let seen = Atomic<UInt32>(0)

    private struct State {
        var contents = DamageRecord.Contents()
        /// The places as a set, so that each is kept once.
        var known: Set<DamagedPlace> = []
        /// Places that this process has reported to the program.
        var told: Set<DamagedPlace> = []
        /// Pages of the places.
        var pages: Set<PageNumber> = []
        /// Tables that a survey has found whole: their rows need no filtering.
        var whole: Set<TableID> = []
        /// Readable rows of a damaged table, with the root of its tree at that time.
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

    /// Removes the record of a store that was removed, replaced or repaired.
    package static func removeRecord(ofStoreAt path: String, _ fileSystem: any FileSystem) {
        let record = DamageRecord.path(path)
        do throws(FileError) { if try fileSystem.status(record) != nil { try fileSystem.remove(record) } } catch {}
    }

    // MARK: Queries

    /// 0 while no damage is known; another number after each change. O(1), without a lock.
    @inline(__always)
    package var generation: UInt32 {
        followOthers()
        return strata_load32(changes)
    }

    /// Reads the record again if another process has changed it: at the start of each transaction, and when a reader
    /// takes another version. O(1) and without a lock if none has.
    package func followOthers() {
        if let processes, processes.damageChanges != seen.load(ordering: .relaxed) { readRecord() }
    }

    /// Every known place, in the order of discovery, and whether the program has acknowledged it.
    package var places: [(place: DamagedPlace, isAcknowledged: Bool)] {
        _ = generation
        return state.withLock { state in
            state.contents.places.enumerated().map { ($1, $0 < state.contents.acknowledged) }
        }
    }

    /// Whether the program has acknowledged this place, or another loss on the same page.
    package func isAcknowledged(_ place: DamagedPlace) -> Bool {
        state.withLock { state in
            state.contents.places.prefix(state.contents.acknowledged).contains {
                $0 == place || $0.page == place.page && place.page.rawValue != 0
            }
        }
    }

    /// Whether there is a place that the program has not acknowledged.
    package var refusesWrites: Bool {
        _ = generation
        return refuses.load(ordering: .acquiring)
    }

    /// - Throws: `damaged` while there is a place that the program has not acknowledged.
    package func checkWrites() throws(StorageError) {
        if refusesWrites { throw .damaged(path: storePath, places: places.count) }
    }

    /// Whether a loss on the place's page is known; for a place without a page, whether the place itself is.
    package func knows(_ place: DamagedPlace) -> Bool {
        state.withLock { state in
            place.page.rawValue == 0 ? state.known.contains(place) : state.pages.contains(place.page)
        }
    }

    /// Whether a row's collection or long value in this column is known to be damaged.
    package func isValueDamaged(_ table: TableID, row: Int64, column: UInt16) -> Bool {
        state.withLock { state in
            state.contents.places.contains { $0.table == table && $0.loss == .value(row: row, column: column) }
        }
    }

    /// Whether there is a place that this process has not reported to the program.
    package var hasUntold: Bool { untold.load(ordering: .acquiring) }

    /// Takes the places that this process has not reported to the program. The caller reports them.
    package func takeUntold() -> [DamagedPlace] {
        if !hasUntold { return [] }
        return state.withLock { state in
            untold.store(false, ordering: .releasing)
            let places = state.contents.places.filter { !state.told.contains($0) }
            state.told.formUnion(places)
            return places
        }
    }

    // MARK: Changes

    /// The file was empty at the open, and this process made a new store of it. A program may have made the file empty
    /// on purpose, or an earlier store was truncated.
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

    /// Acknowledges every place so far: the program knows of them and continues.
    package func acknowledge() { write { contents in ([], contents.acknowledged < contents.places.count) } }

    /// Appends to the record, and adopts its contents. If the record cannot be written, appends to what this process
    /// knows alone.
    private func write(_ lines: (DamageRecord.Contents) -> (places: [DamagedPlace], isAck: Bool)) {
        if isShared {
            let before = processes?.damageChanges ?? 0
            do throws(FileError) {
                let contents = try record.add(beside: storePath, scheduling, lines)
                // Places that an earlier call could not write to the record stay in `known` and `pages` alone.
                adopt(contents)
                processes?.damageDidChange()
                // If another process changed the record meanwhile, it is read again.
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

    /// The readable rows of a table, once damage of the store is known; nil if the table is whole.
    /// - Throws: errors other than damage.
    /// - Complexity: a walk over the table for each version that changed it; once for a whole table.
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
