import CStrataShim
package import StrataFiles
internal import Synchronization

/// Known damage of one open store. Processes share it by a record, a file beside the store (``DamageRecord``).
///
/// A reader that finds an unreadable page notes it here. From then on no transaction begins, in any process, until the
/// program has acknowledged the known places; a new place makes the store refuse transactions again. If the record
/// cannot be written, on a full disk or a read-only medium, this process alone knows what it notes, and writes it with
/// the next change to the record. A place for which the record has no room stays known to this process alone.
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
        /// Every known place, in the order in which this process came to know them. None is removed, whatever the
        /// record has: a place that could not be recorded refuses writes like any other.
        var places: [DamagedPlace] = []
        /// The places as a set, so that each is kept once.
        var known: Set<DamagedPlace> = []
        /// Places that the program has acknowledged, in this process or by the record.
        var acknowledged: Set<DamagedPlace> = []
        /// Places that this process has reported to the program.
        var told: Set<DamagedPlace> = []
        /// Pages of the places.
        var pages: Set<PageNumber> = []
        /// Tables that a survey has found whole: their rows need no filtering.
        var whole: Set<TableID> = []
        /// Readable rows of a damaged table, with the root of its tree at that time.
        var rows: [TableID: (tree: NodeReference, rows: ReadableRows)] = [:]

        /// - Returns: whether any of the places is new.
        mutating func add(_ more: [DamagedPlace]) -> Bool {
            let count = places.count
            for place in more where known.insert(place).inserted {
                places.append(place)
                pages.insert(place.page)
                if let table = place.table { whole.remove(table) }
            }
            return places.count > count
        }
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
        return state.withLock { state in state.places.map { ($0, state.acknowledged.contains($0)) } }
    }

    /// Whether the program has acknowledged this place, or another loss on the same page.
    package func isAcknowledged(_ place: DamagedPlace) -> Bool {
        state.withLock { state in
            state.acknowledged.contains(place)
                || place.page.rawValue != 0 && state.acknowledged.contains { $0.page == place.page }
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
            state.places.contains { $0.table == table && $0.loss == .value(row: row, column: column) }
        }
    }

    /// Whether there is a place that this process has not reported to the program.
    package var hasUntold: Bool { untold.load(ordering: .acquiring) }

    /// Takes the places that this process has not reported to the program. The caller reports them.
    package func takeUntold() -> [DamagedPlace] {
        if !hasUntold { return [] }
        return state.withLock { state in
            untold.store(false, ordering: .releasing)
            let places = state.places.filter { !state.told.contains($0) }
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
        if state.withLock({ $0.add(places) }) { write(isAcknowledgement: false) }
    }

    /// Acknowledges every place so far: the program knows of them and continues.
    package func acknowledge() { write(isAcknowledgement: true) }

    /// Writes to the record what it lacks, and adopts its contents. What cannot be written, this process knows alone.
    ///
    /// A place that this process alone knows and has acknowledged is written only with the next acknowledgement: by
    /// itself it would be one that no program has acknowledged.
    private func write(isAcknowledgement: Bool) {
        let own = state.withLock { state in
            isAcknowledgement ? state.places : state.places.filter { !state.acknowledged.contains($0) }
        }
        var contents = DamageRecord.Contents()
        if isShared {
            let before = processes?.damageChanges ?? 0
            do throws(FileError) {
                contents = try record.add(beside: storePath, scheduling) { recorded in
                    let known = Set(recorded.places)
                    return (own.filter { !known.contains($0) }, isAcknowledgement)
                }
                processes?.damageDidChange()
                // If another process changed the record meanwhile, it is read again.
                seen.store(processes == nil ? 0 : before &+ 1, ordering: .relaxed)
            } catch {}
        }
        adopt(contents, acknowledging: isAcknowledgement ? own : [])
    }

    private func readRecord() {
        guard isShared else { return }
        let now = processes?.damageChanges ?? 0
        let contents: DamageRecord.Contents?
        do throws(FileError) { contents = try record.read() } catch { contents = nil }
        seen.store(now, ordering: .relaxed)
        if let contents, !contents.places.isEmpty { adopt(contents) }
    }

    /// Adds the record's contents to what this process knows.
    /// - Parameter own: places that the program has acknowledged here, though the record may lack them.
    private func adopt(_ contents: DamageRecord.Contents, acknowledging own: [DamagedPlace] = []) {
        state.withLock { state in
            _ = state.add(contents.places)
            state.acknowledged.formUnion(contents.places.prefix(contents.acknowledged))
            state.acknowledged.formUnion(own)
            if !state.told.isSuperset(of: state.known) { untold.store(true, ordering: .releasing) }
            refuses.store(state.acknowledged.count < state.known.count, ordering: .releasing)
        }
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
            if found.places.isEmpty, !state.places.contains(where: { $0.table == id }) {
                state.whole.insert(id)
                return false
            }
            if !tree.isInArena { state.rows[id] = (tree, found) }
            return true
        }
        return isDamaged ? found : nil
    }
}
