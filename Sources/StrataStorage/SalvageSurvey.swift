// What a salvage trusts (docs/decisions): first what the newest readable state reaches; then, for the key ranges whose
// branches are lost only, groups that verify by themselves. The checkpoint's free map says of each page whether the
// newest state uses it, so that no older row comes back; without the map the newest birth wins, and rows are counted
// as uncertain.

/// A group of rows, in its place among the others of its table.
struct SalvagePiece {
    var reference: NodeReference
    var low: Int64
    var high: Int64
    /// Rows that the branch above counts; nil for a group without parent.
    var rows: Int?
    /// The index of the lost subtree that it was found for.
    var loss: Int?
}

/// Part of a tree whose top cannot be read.
struct LostSubtree {
    var reference: NodeReference
    var low: Int64
    var high: Int64
    /// Rows below; nil when nothing says so.
    var rows: Int?
    /// Groups below that are known to be lost, by branches below that verify.
    var known: [SalvageReport.KeyRange] = []
    var recovered = 0
}

/// The groups of a table, in key order, and what is known to be missing between them.
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
    /// Records to be replayed on top.
    var log: SalvageLog?
    private var freeMap: FreeMap?
    /// Pages behind are not the newest state's.
    private var usedPages: Int
    private var found: FoundNodes?

    /// - Throws: `notAStore` when there is neither a slot nor a node.
    init(_ source: SalvageSource) throws(StorageError) {
        self.source = source
        usedPages = source.pageCount
        source.noteSlots()
        let slot = source.validSlots.first
        let root = try start(slot)
        report.hasFreeMap = freeMap != nil
        for table in root?.tables ?? [] { walk(table) }
        if root == nil { collectTables(slot) }
        chooseSchema(root)
        for table in root?.tables ?? [] { walkEntries(table) }
        for table in tables.indices where !tables[table].lost.isEmpty { fillIn(table) }
        if report.schema != .current { nameUnknown() }
    }

    private func scanned() -> FoundNodes {
        if let found { return found }
        let nodes = source.scan()
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
        if slot.root.isNull { return RootNode.Contents(version: 0, schemaNode: .null, tables: []) }
        if let root = parse(slot.root) { return root }
        report.start = .nodes
        return nil
    }

    /// The other slot is lost and the log is based on a newer checkpoint than this one: that slot was in force.
    private func isOutdated(_ slot: HeaderSlot) -> Bool {
        if source.validSlots.count == 2 { return false }
        guard let header = SalvageLog.header(source), header.storeID == slot.storeID else { return false }
        return header.baseVersion > slot.checkpoint
    }

    private func parse(_ reference: NodeReference) -> RootNode.Contents? {
        guard source.node(reference, .root) != nil else { return nil }
        do throws(StorageError) { return try RootNode.parse(reference, source.reader) } catch {
            source.note(error, reference, 0)
            return nil
        }
    }

    /// Neither slot counts: the newest root that the log can go on from; without a log, one that nothing is newer than.
    private func startWithoutSlot() throws(StorageError) -> RootNode.Contents? {
        let nodes = scanned()
        if nodes.isEmpty { throw .notAStore(path: source.path) }
        let newestFirst = nodes.roots.sorted { $0.birth > $1.birth }
        let mapped = Set(nodes.freeMapRoots.map(\.birth))
        var chosen: RootNode.Contents?
        if let log = SalvageLog(source, nil) {
            // Checkpoints have a free map; other versions may have come to the disk in parts.
            let checkpoints = newestFirst.filter { mapped.contains($0.birth) }
            let others = newestFirst.filter { !mapped.contains($0.birth) }
            let start = (checkpoints + others).first { log.goesOn(from: $0.birth) }
            chosen = start.flatMap { self.parse($0) }
            if chosen != nil { self.log = log } else { report.log = .lost }
        } else {
            // Without a log every node of the newest state is as old as its root: a younger one says that it is lost.
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
                // Without a root, the newest one that the checkpoint uses is the one in force.
                report.schema = root == nil && isUsed(reference) == true ? .current : .older
                if report.schema == .current { source.visit(reference) }
                break
            } catch {
                continue
            }
        }
    }

    /// Whether the newest state uses a node's pages; nil when nothing says so.
    private func isUsed(_ reference: NodeReference) -> Bool? {
        guard Int(reference.page) + Int(reference.pages) <= usedPages else { return false }
        guard let freeMap else { return nil }
        for page in Int(reference.page)..<(Int(reference.page) + Int(reference.pages)) {
            if page >> 6 < freeMap.bits.count, freeMap.bits[page >> 6] >> UInt64(page & 63) & 1 != 0 { return false }
        }
        return true
    }

    /// Whether the newest state uses pages that nothing found leads to, and that may have held rows.
    ///
    /// To be asked when all groups were read.
    func mayLackNodes() -> Bool {
        guard freeMap != nil else { return true }
        for page in Format.firstDataPage..<max(usedPages, Format.firstDataPage) where !source.isVisited(page) {
            let place = NodeReference(page: UInt32(page), pages: 1, kind: .value)
            if isUsed(place) == true && !source.isNode(page) { return true }
        }
        return false
    }

    // MARK: Trees

    private func walk(_ state: TableState) {
        var survey = TableSurvey(id: state.id, nextKey: state.nextKey)
        if !state.tree.isNull { walk(state.tree, state.id.rawValue, .min, .max, rows: nil, level: nil, &survey) }
        tables.append(survey)
    }

    private func walk(
        _ reference: NodeReference, _ table: UInt32, _ low: Int64, _ high: Int64, rows: Int?, level: Int?,
        _ survey: inout TableSurvey
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
                walk(child, table, first, last, rows: branch.rows(index), level: branch.level - 1, &survey)
            } else {
                source.visit(child)
                survey.pieces.append(
                    SalvagePiece(reference: child, low: first, high: last, rows: branch.rows(index)))
            }
        }
    }

    /// Indexes and backlinks are built anew; what is damaged in them is noted.
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

    // MARK: Nodes without parents

    /// No root: every table that has nodes, or a name, is a tree whose top is lost.
    private func collectTables(_ slot: HeaderSlot?) {
        let nodes = scanned()
        let lost = NodeReference(
            page: 0, pages: 0, kind: .branch, birth: slot?.checkpoint.rawValue ?? report.checkpoint.rawValue)
        for id in Set(nodes.groups.keys).union(nodes.branches.keys).sorted() where id != 0 {
            let isPresent = ((nodes.groups[id] ?? []) + (nodes.branches[id] ?? [])).contains { isUsed($0) != false }
            if !isPresent { continue }
            tables.append(
                TableSurvey(id: TableID(id), lost: [LostSubtree(reference: lost, low: .min, high: .max)]))
        }
    }

    /// Takes groups whose branches are lost, where nothing reachable covers their keys.
    private func fillIn(_ index: Int) {
        let table = tables[index].id.rawValue
        let groups = (scanned().groups[table] ?? []).filter { !source.isVisited(Int($0.page)) && isUsed($0) != false }
            .sorted { $0.birth > $1.birth }
        let branches = (scanned().branches[table] ?? []).filter {
            !source.isVisited(Int($0.page)) && isUsed($0) == true
        }
        for number in tables[index].lost.indices {
            noteKnownLosses(branches, table, &tables[index].lost[number])
            adopt(groups, table, index, number)
        }
        tables[index].pieces.sort { $0.low < $1.low }
    }

    /// Branches of the lost subtree that verify say which groups are lost, and how many rows they had.
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
                    SalvageReport.KeyRange(low: branch.key(index), high: high, rows: branch.rows(index)))
            }
        }
    }

    /// The newest birth first; one that overlaps what was taken before was dead when that was born.
    private func adopt(_ groups: [NodeReference], _ table: UInt32, _ index: Int, _ number: Int) {
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

    /// Gives tables and columns that no schema names a name made of their ids, and columns the type of their segments.
    private func nameUnknown() {
        for survey in tables {
            if schema.position(of: survey.id) == nil {
                schema.tables.append(TableDefinition(id: survey.id, name: "table-\(survey.id.rawValue)", columns: []))
            }
            schema.nextTableID = max(schema.nextTableID, survey.id.rawValue &+ 1)
        }
        for survey in tables {
            guard let position = schema.position(of: survey.id) else { continue }
            // Columns that the schema is older than; what it has dropped before stays dropped.
            let isNew = schema.tables[position].columns.isEmpty
            let next = isNew ? 1 : schema.nextColumnID
            for (id, kind) in columns(of: survey) where id.rawValue >= next {
                schema.tables[position].columns.append(
                    ColumnDefinition(id: id, name: "column-\(id.rawValue)", type: kind, isOptional: true))
            }
        }
        for column in schema.tables.flatMap(\.columns) where column.id.rawValue < .max {
            schema.nextColumnID = max(schema.nextColumnID, column.id.rawValue + 1)
        }
    }

    /// Columns that the groups of a table have, by id.
    private func columns(of survey: TableSurvey) -> [(ColumnID, ColumnType)] {
        var types: [UInt16: ColumnType] = [:]
        for piece in survey.pieces {
            guard let node = source.node(piece.reference, .group, table: survey.id.rawValue) else { continue }
            let group = Group(node)
            for position in RowSet.firstUserColumn..<group.columns {
                let id = UInt16(truncatingIfNeeded: group.columnID(position))
                if types[id] != nil || id >= TableLayout.createdID { continue }
                types[id] = type(of: position, in: group, survey.id.rawValue)
            }
        }
        return types.sorted { $0.key < $1.key }.map { (ColumnID($0.key), $0.value) }
    }

    private func type(of position: Int, in group: Group, _ table: UInt32) -> ColumnType? {
        var segments: [Segment?] = []
        if group.inserted > 0 { segments.append(group.insertedSegment(position)) }
        let first = group.firstSegment(position)
        for number in first..<(first + group.segmentCount(position)) {
            segments.append(
                SalvagedGroup.segment(group, group.descriptor(number)) {
                    source.node($0, .segments, table: table)
                })
        }
        switch segments.lazy.compactMap({ $0 }).first?.kind {
        case .integer: return .integer
        case .double: return .double
        case .bytes: return .bytes
        case nil: return nil
        }
    }
}

/// Ranges of keys that do not overlap.
struct KeyIntervals {
    private var ranges: [ClosedRange<Int64>] = []

    /// False when the range overlaps one that is there.
    mutating func insert(_ range: ClosedRange<Int64>) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        if low < ranges.count, ranges[low].overlaps(range) { return false }
        ranges.insert(range, at: low)
        return true
    }
}
