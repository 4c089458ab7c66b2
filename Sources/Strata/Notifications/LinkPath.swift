import StrataStorage

/// Property names from a class on, each found in the class that the one before leads to.
struct LinkPath {
    struct Step {
        let access: ClassAccess
        let property: BoundProperty
        /// What the property leads to; nil at a plain value.
        let target: ClassAccess?
    }

    let steps: [Step]
    /// The class and the names, for observers that share a path.
    private let text: String

    /// - Throws: `invalidInput` for a name that the class on the way does not have, or that leads nowhere.
    init(_ names: [String], _ access: ClassAccess) throws(Realm.Error) {
        text = ([access.name] + names).joined(separator: ".")
        var steps: [Step] = []
        var access: ClassAccess? = access
        for (place, name) in names.enumerated() {
            guard let here = access else {
                throw Realm.Error(
                    .invalidInput, "'\(names[place - 1])' holds plain values; '\(name)' cannot be observed behind it")
            }
            guard let property = here.property(name) else {
                throw Realm.Error(.invalidInput, "'\(here.name)' has no property '\(name)'")
            }
            let leads = property.isLinkingObjects || property.tag.columnType.isLink
            access = leads ? here.target(of: property) : nil
            steps.append(Step(access: here, property: property, target: access))
        }
        self.steps = steps
    }

    /// Rows of the first class for which something differs on the way: the property that the path starts with, or
    /// what it leads to, up to the last name.
    ///
    /// Goes from what changed back to who leads there, so the cost is that of the changes and of the links to them. A
    /// path has an end, so cycles have one as well. Looking at the new version alone is enough: where an object led to
    /// a changed one before and does not now, a link on the way differs, and that is found by itself.
    /// - Complexity: O(changes log rows), and O(log rows) per link that leads to one of them.
    func touched(_ batch: ChangeBatch) throws(StorageError) -> Set<Int64> {
        if let known = batch.touched[text] { return known }
        var behind: Set<Int64> = []
        for step in steps.reversed() {
            var here = try step.changed(batch)
            if !behind.isEmpty { try step.addOrigins(of: behind, batch, &here) }
            behind = here
        }
        batch.touched[text] = behind
        return behind
    }
}

extension LinkPath.Step {
    /// Rows whose own value of the property differs.
    fileprivate func changed(_ batch: ChangeBatch) throws(StorageError) -> Set<Int64> {
        if property.isLinkingObjects { return try changedTargets(batch) }
        guard let column = columnID else { return [] }
        let difference = try batch.difference(of: access.tableID)
        var rows = Set(difference.modified.lazy.filter { $0.value.contains(column) }.map(\.key))
        if property.tag.type == .any {
            let lost = try batch.rowsWithLostLinks(access.tableID)
            rows.formUnion(lost.lazy.filter { $0.value.contains(column) }.map(\.key))
        }
        return rows
    }

    /// Rows with another number of links from the class of the inverse than before.
    private func changedTargets(_ batch: ChangeBatch) throws(StorageError) -> Set<Int64> {
        guard let target, let name = property.origin, let forward = target.property(name), forward.column >= 0 else {
            return []
        }
        let forwardStep = LinkPath.Step(access: target, property: forward, target: access)
        guard let column = forwardStep.columnID else { return [] }
        let difference = try batch.difference(of: target.tableID)
        var targets: Set<Int64> = []
        for (key, columns) in difference.modified where columns.contains(column) {
            var counts: [Int64: Int] = [:]
            for link in try forwardStep.links(of: key, batch.old.view) { counts[link, default: 0] += 1 }
            for link in try forwardStep.links(of: key, batch.new.view) { counts[link, default: 0] -= 1 }
            for (link, count) in counts where count != 0 { targets.insert(link) }
        }
        for key in difference.deleted { targets.formUnion(try forwardStep.links(of: key, batch.old.view)) }
        for key in difference.insertedKeys { targets.formUnion(try forwardStep.links(of: key, batch.new.view)) }
        return targets
    }

    /// Adds the rows whose property leads to one of `targets`.
    fileprivate func addOrigins(
        of targets: Set<Int64>, _ batch: ChangeBatch, _ origins: inout Set<Int64>
    ) throws(StorageError) {
        let view = batch.new.view
        if property.isLinkingObjects {
            guard let target, let name = property.origin, let forward = target.property(name) else { return }
            let step = LinkPath.Step(access: target, property: forward, target: access)
            for key in targets { origins.formUnion(try step.links(of: key, view)) }
            return
        }
        guard property.column >= 0, let table = view.schema.position(of: access.tableID) else { return }
        for target in targets {
            try view.backlinks(to: RowKey(target), of: table, property.column) { (key, _) throws(StorageError) in
                origins.insert(key.rawValue)
                return true
            }
        }
    }

    /// The identity of the column; nil for what has none.
    private var columnID: UInt16? {
        guard property.column >= 0, let view = access.instance.currentView else { return nil }
        return view.schema.tables[access.table].columns[property.column].id.rawValue
    }

    /// What a row's column leads to in a version; nothing when the row is not there.
    private func links(of key: Int64, _ view: ReadView) throws(StorageError) -> [Int64] {
        guard let table = view.schema.position(of: access.tableID), let column = columnID,
            let place = view.schema.tables[table].position(of: ColumnID(column)),
            let row = try view.locate(table, RowKey(key))
        else { return [] }
        if view.schema.tables[table].columns[place].type == .link {
            return try view.integer(row, place).map { [$0] } ?? []
        }
        return try view.links(row, key, column: place)
    }
}

/// Which changes of an object an observer wants to hear of.
///
/// Without key paths: of its own stored properties, and, for an element of a collection, of those of objects that it
/// leads to by at most ``linksFollowed`` links. A key path `a.b.c` asks for changes of `a`, of `b` in what `a`
/// leads to, and of `c` in what `b` leads to; one that ends at a link or a collection for which objects those are, not
/// for what is in them.
struct KeyPathFilter {
    /// How many links are followed from the elements of a collection that is observed without key paths, as Realm
    /// documents it.
    static let linksFollowed = 4

    private let access: ClassAccess
    /// Nil without key paths.
    private let paths: [LinkPath]?
    /// How many links are followed without key paths.
    private let links: Int

    /// - Parameter links: how many links are followed without key paths: ``linksFollowed`` from the elements of a
    ///   collection, none from an object that is observed by itself.
    /// - Throws: `invalidInput` for a path that leads nowhere.
    init(_ keyPaths: [String]?, _ access: ClassAccess, links: Int = KeyPathFilter.linksFollowed) throws(Realm.Error) {
        self.access = access
        self.links = links
        guard let keyPaths else {
            paths = nil
            return
        }
        var paths: [LinkPath] = []
        for path in keyPaths {
            paths.append(try LinkPath(path.split(separator: ".").map(String.init), access))
        }
        self.paths = paths
    }

    /// Rows of the class that changed as the observer means it. Some of them may be new.
    func touched(_ batch: ChangeBatch) throws(StorageError) -> Set<Int64> {
        guard let paths else {
            #if Zoo
                let links = PlantedMistake.linksUnfollowed.isPlanted ? min(1, links) : links
            #endif
            return try batch.modified(of: access.tableID, within: links)
        }
        #if Zoo
            if PlantedMistake.keyPathDeaf.isPlanted, paths.contains(where: { $0.steps.count > 1 }) { return [] }
        #endif
        var touched: Set<Int64> = []
        for path in paths { touched.formUnion(try path.touched(batch)) }
        return touched
    }

    /// The names of the row's own properties behind which something changed, in the order of the paths; without
    /// paths in the order of the columns.
    func names(for key: Int64, _ batch: ChangeBatch) throws(StorageError) -> [String] {
        guard let paths else {
            let changed = try batch.changedColumns(of: key, in: access.tableID)
            if changed.isEmpty { return [] }
            let schema = batch.new.view.schema
            guard let table = schema.position(of: access.tableID) else { return [] }
            let columns = schema.tables[table].columns
            return columns.indices.filter { changed.contains(columns[$0].id.rawValue) }.map { column in
                access.property(ofColumn: column)?.name ?? columns[column].name
            }
        }
        var names: [String] = []
        for path in paths {
            guard let first = path.steps.first?.property.name, !names.contains(first) else { continue }
            if try path.touched(batch).contains(key) { names.append(first) }
        }
        return names
    }
}
