internal import StrataStorage

// A salvage trusts first the nodes that the newest readable state reaches (docs/decisions/0004-salvage.md); then, only
// for key ranges whose branches are lost, groups that verify by themselves. The checkpoint's free map shows whether the
// newest state uses a page, so the salvage recovers no older row. Without the map, it adopts the group of the newest
// birth, and counts its rows as uncertain.

/// A row group, at its place among the others of its table.
struct SalvagePiece {
    var reference: NodeReference
    var low: Int64
    var high: Int64
    /// Number of rows from the branch above; nil for a group without parent.
    var rows: Int?
    /// Index of the lost subtree that it belongs to.
    var loss: Int?
    /// Whether another branch, which was visited before, references the group as well: its rows count there.
    var isElsewhere = false
}

/// A subtree whose root cannot be read.
struct LostSubtree {
    var reference: NodeReference
    var low: Int64
    var high: Int64
    /// Rows below; nil if unknown.
    var rows: Int?
    /// Lost groups of the subtree that verified branches in it name.
    var known: [SalvageReport.KeyRange] = []
    /// Rows recovered from groups of the subtree.
    var recovered = 0
}

/// The groups of a table in key order, and what is known to be missing between them.
struct TableSurvey {
    var id: TableID
    var nextKey: Int64 = 0
    var pieces: [SalvagePiece] = []
    var lost: [LostSubtree] = []
}

/// Finds the newest state of a damaged store, and the groups of each table.
///
/// Concurrency: confined to the salvage.
final class SalvageSurvey {
    let source: SalvageSource
    var report = SalvageReport()
    var schema = StoreSchema()
    var tables: [TableSurvey] = []
    private let places = DefinitionPlaces<TableID>()
    /// The log whose records are to be replayed on the rows of the pages.
    var log: SalvageLog?
    private var freeMap: FreeMap?
    /// Pages from here on do not belong to the newest state.
    private var usedPages: Int
    private var found: FoundNodes?
    private var hasPassedOver = false

    /// - Throws: `notAStore` if there is neither a slot nor a node.
    init(_ source: SalvageSource) throws(StorageError) {
        self.source = source
        usedPages = source.pageCount
        source.noteSlots()
        let slot = source.validSlots.first
        let root = try start(slot)
        report.hasFreeMap = freeMap != nil
        for table in root?.tables ?? [] { walk(table) }
        if root == nil { collectTables() }
        chooseSchema(root)
        if root == nil { addLostTables() }
        for table in root?.tables ?? [] { walkEntries(table) }
        if tables.contains(where: { !$0.lost.isEmpty }) { passOverValues() }
        for table in tables.indices where !tables[table].lost.isEmpty { fillIn(table) }
        if report.schema != .current { schema = SchemaCompletion(source, tables).completed(schema) }
    }

    private func scanned() -> FoundNodes {
        if let found { return found }
        var scan = NodeScan(source)
        let nodes = scan.run()
        found = nodes
        return nodes
    }

    // MARK: The newest state

    private func start(_ slot: HeaderSlot?) throws(StorageError) -> RootNode.Contents? {
        guard let slot, !isOutdated(slot) else { return try startWithoutSlot() }
        report.checkpoint = slot.checkpoint
        usedPages = min(usedPages, Int(clamping: slot.pageCount))
        freeMap = source.freeMap(slot.freeMap)
        log = SalvageLog(source, slot)
        if slot.root.isNull { return .empty }
        if let root = parse(slot.root) { return root }
        report.start = .nodes
        return nil
    }

    /// Whether the other, lost slot was in force: the log's base is a newer checkpoint than this slot's.
    private func isOutdated(_ slot: HeaderSlot) -> Bool {
        if source.validSlots.count == 2 { return false }
        let header = SalvageLog.header(source.fileSystem, source.path)
        guard let header, header.storeID == slot.storeID else { return false }
        return header.baseVersion > slot.checkpoint
    }

    private func parse(_ reference: NodeReference) -> RootNode.Contents? {
        guard source.node(reference, .root) != nil else { return nil }
        do throws(StorageError) {
            return try RootNode.parse(reference, source.reader)
        } catch {
            source.note(error, reference, 0)
            return nil
        }
    }

    /// Without a usable slot: the newest root before the log's first record; without a log, a root that no node is
    /// newer than.
    private func startWithoutSlot() throws(StorageError) -> RootNode.Contents? {
        let nodes = scanned()
        if nodes.isEmpty { throw .notAStore(path: source.path) }
        let newestFirst = nodes.roots.sorted { $0.birth > $1.birth }
        let mapped = Set(nodes.freeMapRoots.map(\.birth))
        var chosen: RootNode.Contents?
        if let log = SalvageLog(source, nil) {
            // Checkpoints have a free map; other versions may have reached the disk partially.
            let checkpoints = newestFirst.filter { mapped.contains($0.birth) }
            let others = newestFirst.filter { !mapped.contains($0.birth) }
            let start = (checkpoints + others).first { log.goesOn(from: $0.birth) }
            chosen = start.flatMap { self.parse($0) }
            if chosen != nil { self.log = log } else { report.log = .lost }
        } else {
            // The contents of an unreadable log are unknown.
            if source.hasLog { report.log = .lost }
            // Without a log every node of the newest state is at most as new as its root: a newer node shows that the
            // root is lost.
            chosen = newestFirst.first { $0.birth >= nodes.newestBirth }.flatMap { self.parse($0) }
        }
        let version = chosen?.version ?? nodes.newestBirth
        report.checkpoint = TransactionID(version)
        report.start = chosen == nil ? .nodes : .root
        if let map = nodes.freeMapRoots.first(where: { $0.birth == version }) { freeMap = source.freeMap(map) }
        return chosen
    }

    private func chooseSchema(_ root: RootNode.Contents?) {
        if let root {
            do throws(StorageError) {
                schema = try SchemaNode.read(root.schemaNode, source.reader)
                source.visit(root.schemaNode)
                return
            } catch {
                source.note(error, root.schemaNode, 0)
            }
        }
        let version = report.checkpoint.rawValue
        let candidates = scanned().schemas.filter { $0.birth <= version }.sorted { $0.birth > $1.birth }
        report.schema = .lost
        for reference in candidates {
            do throws(StorageError) {
                schema = try SchemaNode.read(reference, source.reader)
                // Without a root, the newest schema that the checkpoint uses is the current one.
                report.schema = root == nil && isUsed(reference) == true ? .current : .older
                if report.schema == .current { source.visit(reference) }
                break
            } catch {
                continue
            }
        }
    }

    /// Whether the newest state uses a node's pages; nil if unknown.
    private func isUsed(_ reference: NodeReference) -> Bool? {
        guard Int(reference.page) + Int(reference.pages) <= usedPages else { return false }
        guard let freeMap else { return nil }
        for page in Int(reference.page)..<(Int(reference.page) + Int(reference.pages)) {
            if page >> 6 < freeMap.bits.count, freeMap.bits[page >> 6] >> UInt64(page & 63) & 1 != 0 { return false }
        }
        return true
    }

    // MARK: Trees

    /// More rows than any table has: larger counts are damage.
    private static let maxRows = 1 << 40

    /// The rows that a branch counts below a child; nil if impossible.
    private func rowCount(_ branch: Branch, _ index: Int) -> Int? {
        let rows = branch.rows(index)
        return rows <= Self.maxRows ? rows : nil
    }

    private func walk(_ state: TableState) {
        var survey = TableSurvey(id: state.id, nextKey: state.nextKey)
        if !state.tree.isNull {
            walk(state.tree, state.id.rawValue, low: .min, high: .max, rows: nil, level: nil, survey: &survey)
        }
        tables.append(survey)
    }

    private func walk(
        _ reference: NodeReference, _ table: UInt32, low: Int64, high: Int64, rows: Int?, level: Int?,
        survey: inout TableSurvey
    ) {
        var branch: Branch?
        if !source.isVisited(Int(min(reference.page, UInt32(source.pageCount)))) {
            branch = source.node(reference, .branch, table: table).map { Branch($0) }
        }
        source.visit(reference)
        guard let branch, level == nil || branch.level == level else {
            survey.lost.append(LostSubtree(reference: reference, low: low, high: high, rows: rows))
            return
        }
        for index in 0..<branch.count {
            let child = branch.reference(index)
            let first = index == 0 ? low : branch.key(index)
            let last = index + 1 < branch.count ? branch.key(index + 1) - 1 : high
            if branch.level > 1 {
                walk(
                    child, table, low: first, high: last, rows: rowCount(branch, index), level: branch.level - 1,
                    survey: &survey)
            } else {
                var piece = SalvagePiece(reference: child, low: first, high: last, rows: rowCount(branch, index))
                piece.isElsewhere = Int(child.page) < source.pageCount && source.isVisited(Int(child.page))
                source.visit(child)
                survey.pieces.append(piece)
            }
        }
    }

    /// Reads indexes and backlinks only to note their damage: the new store gets new ones.
    private func walkEntries(_ state: TableState) {
        for entry in state.entries where !entry.root.isNull { walkEntries(entry.root, state.id.rawValue, nil) }
    }

    private func walkEntries(_ reference: NodeReference, _ table: UInt32, _ level: Int?) {
        if reference.is(.entryLeaf) {
            _ = source.node(reference, .entryLeaf, table: table)
            return
        }
        if source.isVisited(Int(min(reference.page, UInt32(source.pageCount)))) { return }
        let branch = source.node(reference, .entryBranch, table: table).map { EntryBranch($0) }
        source.visit(reference)
        guard let branch, level == nil || branch.level == level else { return }
        for index in 0..<branch.count { walkEntries(branch.reference(index), table, branch.level - 1) }
    }

    /// The survey of a class, once all are known.
    func table(_ id: TableID) -> TableSurvey? { places.first(id, in: tables) { $0.id }.map { tables[$0] } }

    // MARK: Nodes without parents

    /// The lost root of a whole tree. Only nodes that are not newer than the chosen checkpoint belong to it.
    private var lostTop: LostSubtree {
        let reference = NodeReference(page: 0, pages: 0, kind: .branch, birth: report.checkpoint.rawValue)
        return LostSubtree(reference: reference, low: .min, high: .max)
    }

    /// Adds the classes of the schema without any node; their number of rows is unknown.
    private func addLostTables() {
        let found = Set(tables.map(\.id))
        for definition in schema.tables where !found.contains(definition.id) {
            tables.append(TableSurvey(id: definition.id, lost: [lostTop]))
        }
    }

    /// Without a root: every table with nodes is a tree whose root is lost.
    private func collectTables() {
        let nodes = scanned()
        for id in Set(nodes.groups.keys).union(nodes.branches.keys).sorted() where id != 0 {
            let isPresent = ((nodes.groups[id] ?? []) + (nodes.branches[id] ?? [])).contains { isUsed($0) != false }
            if !isPresent { continue }
            tables.append(TableSurvey(id: TableID(id), lost: [lostTop]))
        }
    }

    /// Leaves that name this collection, that no readable branch references, and that are not newer than `birth`.
    func orphanLeaves(_ owner: CollectionOwner, birth: UInt64) -> [NodeReference] {
        passOverValues()
        return (scanned().leaves[owner] ?? []).filter {
            $0.birth <= birth && !source.isVisitedNode($0) && isUsed($0) != false
        }
    }

    /// Excludes the pages of reachable rows' long values from the scan, damaged ones too: apparent nodes inside are
    /// user data.
    private func passOverValues() {
        if hasPassedOver { return }
        hasPassedOver = true
        for survey in tables {
            guard let position = schema.position(of: survey.id) else { continue }
            let layout = TableLayout(schema.tables[position])
            for piece in survey.pieces where !piece.isElsewhere {
                var group = SalvagedGroup(piece.reference, schema.tables[position], layout: layout, source: source)
                group?.visitLongValues()
            }
        }
    }

    /// Adds groups that no readable branch references, for keys that no reachable group covers.
    private func fillIn(_ index: Int) {
        let table = tables[index].id.rawValue
        let groups = (scanned().groups[table] ?? []).filter { !source.isVisited(Int($0.page)) && isUsed($0) != false }
            .sorted { $0.birth > $1.birth }
        let branches = (scanned().branches[table] ?? []).filter {
            !source.isVisited(Int($0.page)) && isUsed($0) == true
        }
        for number in tables[index].lost.indices {
            noteKnownLosses(branches, table, &tables[index].lost[number])
            adopt(groups, table, index: index, number: number)
        }
        tables[index].pieces.sort { $0.low < $1.low }
    }

    /// Adds losses that verified branches of a lost subtree know: groups and their numbers of rows.
    private func noteKnownLosses(_ branches: [NodeReference], _ table: UInt32, _ lost: inout LostSubtree) {
        for reference in branches where reference.birth <= lost.reference.birth {
            guard let node = source.node(reference, .branch, table: table) else { continue }
            let branch = Branch(node)
            guard branch.level == 1, branch.key(0) >= lost.low, branch.key(0) <= lost.high else { continue }
            source.visit(reference)
            for index in 0..<branch.count {
                let child = branch.reference(index)
                if source.node(child, .group, table: table) != nil { continue }
                source.visit(child)
                let high = index + 1 < branch.count ? branch.key(index + 1) - 1 : lost.high
                lost.known.append(
                    SalvageReport.KeyRange(low: branch.key(index), high: high, rows: rowCount(branch, index)))
            }
        }
    }

    /// Adopts groups, newest birth first. A group that overlaps an adopted one is skipped: the newer one replaced it.
    private func adopt(_ groups: [NodeReference], _ table: UInt32, index: Int, number: Int) {
        let lost = tables[index].lost[number]
        var taken = KeyIntervals()
        for reference in groups where reference.birth <= lost.reference.birth {
            guard let keys = SalvagedGroup.extent(reference, table, source),
                keys.lowerBound <= lost.high, keys.upperBound >= lost.low, taken.insert(keys)
            else { continue }
            source.visit(reference)
            tables[index].pieces.append(
                SalvagePiece(
                    reference: reference, low: keys.lowerBound, high: keys.upperBound, rows: nil, loss: number))
        }
    }
}
