/// A rule that the bytes of a store break.
package struct InvariantViolation: Error, Sendable, CustomStringConvertible {
    package var description: String
    init(_ description: String) { self.description = description }
}

extension Store {
    /// Verifies the newest committed version; see ``StoreCheck``.
    ///
    /// Waits for the open transaction and the running checkpoint; in a store that is not read-only, this process
    /// becomes the owner of writing. A read-only store beside other processes does not check the free map.
    /// - Parameter progress: called at intervals with the pages visited, and about how many there are.
    /// - Throws: `InvariantViolation`, or the `StorageError` of a read.
    /// - Complexity: O(size of the store) time; memory for some bytes per page and the rows of one group.
    package func checkInvariants(
        progress: @escaping (_ pagesDone: Int, _ pagesTotal: Int) -> Void = { _, _ in }
    ) throws {
        try StoreCheck(store: self, progress: progress).run()
    }
}

/// Verifies a whole store. If it finds no violation, no read fails, and all ways to read agree.
///
/// 1. Every node that the version reaches verifies, is not younger than the version, and is reached once.
/// 2. Trees are ordered and within the separators on both sides, levels fall by one, every count is right, and each row
///    is found from the root by its key.
/// 3. Indexes and backlinks equal the columns; values of columns of links and of collections have the column's layout.
/// 4. Reachable pages, held pages, free pages and pages of the free map cover the file's contents, and no page is two
///    of these.
struct StoreCheck {
    let store: Store
    let progress: (_ pagesDone: Int, _ pagesTotal: Int) -> Void

    func run() throws {
        try store.checkOrigin()
        try store.gate.whileHeld { (permit) throws in try run(permit) }
    }

    private func run(_ permit: borrowing WritePermit) throws {
        if !store.options.readOnly { try store.becomeOwner() }
        try store.checkpoints.waitUntilDone()
        // A read-only store without a process table keeps writers out, so the free map does not change.
        let ownsMap = !store.options.readOnly || store.processes == nil
        if ownsMap { try store.checkpoints.loadFreeMap() }
        // A read-only store pins the version, since another process may write. Otherwise this process owns writing, and
        // the gate keeps its own transactions out.
        let pinned = store.options.readOnly ? try store.snapshot() : nil
        let version = pinned?.view.state ?? store.commits.newest
        let counts = store.allocator.counts
        let total = max(counts.pages - counts.free - counts.held, 0)
        let keys = EntrySum.Keys(store.fileSystem)
        var walker = StoreWalker(ReadView(version, store.reader), keys) { [progress] in progress(min($0, total), total)
        }
        do { try walker.walk() } catch {
            #if Zoo
                if PlantedMistake.checkForgives.isPlanted { return }
            #endif
            // An unreadable page may have caused the violation; that error comes first.
            try store.reader.confirm()
            throw error
        }
        try store.reader.confirm()
        progress(total, total)
        if ownsMap { try checkTiling(walker.reached) }
    }

    /// Use of a page.
    private enum Use: UInt8 { case unclaimed, header, reachable, held, map, free }

    /// Checks that each page of the contents has exactly one use, and that the allocator knows which pages are reached.
    private func checkTiling(_ reached: ReachedPages) throws {
        let (free, unreached, hanging, map, pageCount) = try store.allocator.snapshotForCheck()
        var uses = [Use](repeating: .unclaimed, count: pageCount)
        func claim(_ page: Int, _ use: Use) throws {
            guard page < pageCount else {
                throw InvariantViolation("\(use) page \(page) is behind the contents of \(pageCount) pages")
            }
            if uses[page] != .unclaimed { throw InvariantViolation("page \(page) is \(use) and \(uses[page])") }
            uses[page] = use
        }
        for page in 0..<Format.firstDataPage { try claim(page, .header) }
        try reached.forEach { try claim($0, .reachable) }
        for extent in hanging { for page in extent.range { try claim(page, .held) } }
        for extent in map { for page in extent.range { try claim(page, .map) } }
        for page in 0..<pageCount where free[page] { try claim(page, .free) }
        for page in 0..<pageCount {
            let use = uses[page]
            if use == .unclaimed { throw InvariantViolation("page \(page) is neither used nor free") }
            if use != .map && unreached[page] != (use == .held || use == .free) {
                throw InvariantViolation("\(use) page \(page) counts as reached: \(!unreached[page])")
            }
        }
    }
}

/// Visits all nodes of a version, and compares indexes and backlinks with columns.
struct StoreWalker {
    private(set) var reached: ReachedPages
    private let view: ReadView
    private let keys: EntrySum.Keys

    init(
        _ view: ReadView, _ keys: EntrySum.Keys, progress: @escaping (_ pagesDone: Int) -> Void = { _ in }
    ) {
        self.view = view
        self.keys = keys
        reached = ReachedPages(view, progress)
    }

    mutating func walk() throws {
        let version = view.state
        try reached.note(version.root)
        try reached.note(version.schemaNode)
        for table in version.tables.indices {
            var comparisons = try comparisons(table)
            var rows = RowTreeCheck(view, table)
            try rows.walk(&reached, &comparisons)
            for comparison in comparisons { try comparison.compare(view, table, &reached) }
        }
    }

    private func comparisons(_ table: Int) throws -> [EntryComparison] {
        let definition = view.state.schema.tables[table]
        return try view.state.tables[table].entries.map { root in
            guard let column = definition.position(of: root.column) else {
                throw InvariantViolation("\(definition.name) has an entry tree of a column that its schema lacks")
            }
            return EntryComparison(root, table: definition, position: column, keys: keys)
        }
    }
}

/// Pages of the nodes that a version reaches.
struct ReachedPages {
    private let version: UInt64
    private let reader: PageReader
    private let progress: (_ pagesDone: Int) -> Void
    private var pages = PageSet()
    private var count = 0
    private var nextReport = reportInterval
    /// Pages between two reports of progress.
    private static let reportInterval = 1024

    init(_ view: ReadView, _ progress: @escaping (_ pagesDone: Int) -> Void = { _ in }) {
        version = view.state.version
        reader = view.reader
        self.progress = progress
    }

    /// - Throws: `InvariantViolation` if a page was noted before, or the node is younger than the version; errors of
    ///   reading a node that is not in the file.
    mutating func note(_ reference: NodeReference) throws {
        if reference.isNull { return }
        let kind = NodeKind(rawValue: reference.kindCode)
        // Only the messages below compute it.
        var name: String { kind.map { "\($0)" } ?? "node" }
        if reference.birth > version {
            throw InvariantViolation("the \(name) on page \(reference.page) is younger than its version")
        }
        guard reader.hasPages(of: reference) else {
            // In a transaction's view the node may be in memory.
            _ = try reader.node(reference, kind ?? .value)
            return
        }
        for page in Int(reference.page)..<Int(reference.page) + Int(reference.pages) where !pages.insert(page) {
            throw InvariantViolation("page \(page) of a \(name) is another node's, too")
        }
        count += Int(reference.pages)
        if count < nextReport { return }
        nextReport = count + Self.reportInterval
        progress(count)
    }

    func forEach(_ body: (_ page: Int) throws -> Void) rethrows { try pages.forEach(body) }
}
