import StrataStorage

/// A path of property names, each of the class that the previous one leads to.
struct LinkPath {
    struct Step {
        let access: ClassAccess
        let property: BoundProperty
        /// The target class of the property; nil for a plain value.
        let target: ClassAccess?
    }

    let steps: [Step]
    /// Class and names, as a key for observers with the same path.
    private let text: String

    /// - Throws: `invalidInput` for a name that its class does not have, or that is no link.
    init(_ names: [String], _ access: ClassAccess) throws(RealmError) {
        text = ([access.name] + names).joined(separator: ".")
        var steps: [Step] = []
        var access: ClassAccess? = access
        for (place, name) in names.enumerated() {
            guard let here = access else {
                throw RealmError(
                    .invalidInput, "'\(names[place - 1])' holds plain values; '\(name)' cannot be observed behind it")
            }
            guard let property = here.property(name) else {
                throw RealmError(.invalidInput, "'\(here.name)' has no property '\(name)'")
            }
            let leads = property.isLinkingObjects || property.tag.columnType.isLink
            access = leads ? here.target(of: property) : nil
            steps.append(Step(access: here, property: property, target: access))
        }
        self.steps = steps
    }

    /// Rows of the first class with a change along the path: of the path's first property, or of objects it leads to,
    /// up to the last name.
    ///
    /// Walks back from the changes to the rows that link to them, so the cost is that of the changes and of the links
    /// to them. A path is finite, so cycles end. The new version's links are enough: if an object linked to a changed
    /// one before and does not now, a link on the path has changed, which is found as well.
    /// - Complexity: O(changes log rows), and O(log rows) per link to one of them.
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

    /// Rows whose number of links from the inverse's class differs.
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

    /// Adds the rows whose property links to any of `targets`.
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

    /// The id of the column; nil for a property without one.
    private var columnID: UInt16? {
        guard property.column >= 0, let view = access.instance.currentView else { return nil }
        return view.schema.tables[access.table].columns[property.column].id.rawValue
    }

    /// The rows that a row's column links to in a version; none if the row does not exist.
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

/// The changes of an object that an observer is notified of.
///
/// Without key paths: changes of its own stored properties, and, for an element of a collection, of those of objects it
/// leads to by at most ``linksFollowed`` links. A key path `a.b.c` selects changes of `a`, of `b` in the objects that
/// `a` leads to, and of `c` in those that `b` leads to. A path that ends at a link or a collection selects changes of
/// the link or of the members, not of the members' properties.
struct KeyPathFilter {
    /// Links that are followed from the elements of a collection observed without key paths, as Realm documents it.
    static let linksFollowed = 4

    private let access: ClassAccess
    /// Nil without key paths.
    private let paths: [LinkPath]?
    /// Links that are followed without key paths.
    private let links: Int

    /// - Parameter links: links that are followed without key paths: ``linksFollowed`` from the elements of a
    ///   collection, none from a single observed object.
    /// - Throws: `invalidInput` for an invalid path.
    init(_ keyPaths: [String]?, _ access: ClassAccess, links: Int = KeyPathFilter.linksFollowed) throws(RealmError) {
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

    /// Rows of the class with selected changes. Some of them may be new.
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

    /// Names of the row's own properties with changes behind them, in the order of the paths; without paths in the
    /// order of the columns.
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
