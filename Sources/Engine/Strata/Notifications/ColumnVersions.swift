import StrataStorage

/// A list, a set or a map in the two versions of a ``ChangeBatch``, and the places at which they differ.
///
/// All of it is computed from the versions: no observer keeps the elements of a collection.
struct ColumnVersions {
    /// Nil if the row or the column did not exist.
    let old: CollectionContents?
    let new: CollectionContents?
    /// Old places, ascending.
    let deletions: [Int]
    /// New places, ascending.
    let insertions: [Int]
    /// New places of keys whose values differ, ascending.
    let modifications: [Int]
    /// In a list of values of any type: old and new places of inner lists and maps that changed, and of elements whose
    /// object was deleted.
    let changed: [(old: Int, new: Int)]
    private let difference: CollectionDifference?
    private let column: _CollectionColumn
    private let batch: ChangeBatch

    /// - Parameters:
    ///   - earlier: steps to a collection nested in a value of any type, in the old version; nil for others.
    ///   - later: its steps in the new version.
    /// - Complexity: the leaves that the versions do not share, and their elements.
    init(
        _ column: _CollectionColumn, _ batch: ChangeBatch, earlier: NestedSteps? = nil, later: NestedSteps? = nil
    ) throws(StorageError) {
        self.column = column
        self.batch = batch
        old = try Self.contents(of: column, in: batch.old.view, batch: batch, standing: earlier)
        new = try Self.contents(of: column, in: batch.new.view, batch: batch, standing: later)
        guard let old, let new else {
            difference = nil
            deletions = Array(0..<(old?.count ?? 0))
            insertions = Array(0..<(new?.count ?? 0))
            modifications = []
            changed = []
            return
        }
        if new.tag.isSetOfAny, let members = try Self.shownDifference(old, new) {
            difference = nil
            deletions = members.deletions.sorted()
            insertions = members.insertions.sorted()
            modifications = []
            changed = []
            return
        }
        let made = try CollectionDifference(from: old.reader, to: new.reader)
        difference = made
        let lost = try Self.lost(old, made, batch)
        var gone = made.deletions.flatMap { Array($0) }
        var come = made.insertions.flatMap { Array($0) }
        if new.tag.takesNested, new.tag.collection == .list {
            // An inner collection that changed in place is reported as changed, not as deleted and inserted.
            var inner = try NestedMatch(old.reader, new.reader, made).changed()
            if !lost.isEmpty {
                let known = Set(inner.map(\.old))
                inner += lost.filter { !known.contains($0.old) }
                inner.sort { $0.old < $1.old }
            }
            changed = inner
            if !changed.isEmpty {
                let (before, after) = (Set(changed.map(\.old)), Set(changed.map(\.new)))
                gone.removeAll { before.contains($0) }
                come.removeAll { after.contains($0) }
            }
        } else {
            changed = []
        }
        deletions = gone
        insertions = come
        let differing = Set(made.modifications.map(\.new)).union(new.tag.collection == .map ? lost.map(\.new) : [])
        modifications = differing.sorted()
    }

    /// Differences between the visible members of a set of values of any type; nil if none of its links was lost.
    private static func shownDifference(
        _ old: CollectionContents, _ new: CollectionContents
    ) throws(StorageError) -> SequenceDifference? {
        let (before, after) = (try old.shownMembers(), try new.shownMembers())
        if before == nil && after == nil { return nil }
        return SequenceDifference(
            from: before == nil ? try old.all().values : before?.contents.values ?? [],
            to: after == nil ? try new.all().values : after?.contents.values ?? [])
    }

    /// Old and new places of unchanged elements that linked to an object that was deleted.
    private static func lost(
        _ old: CollectionContents, _ difference: CollectionDifference, _ batch: ChangeBatch
    ) throws(StorageError) -> [(old: Int, new: Int)] {
        guard old.tag.takesNested, let lost = try batch.lostLinks() else { return [] }
        return try lost.places(in: old.reader).compactMap { place in
            difference.newPlace(of: place).map { (old: place, new: $0) }
        }
    }

    private static func contents(
        of column: _CollectionColumn, in view: ReadView, batch: ChangeBatch, standing: NestedSteps?
    ) throws(StorageError) -> CollectionContents? {
        let (owner, property) = (column.owner, column.property)
        let newest = batch.new.view.schema
        if column.nested != nil && standing == nil { return nil }
        guard property.column >= 0, column.nested != nil || property.isCollection,
            let known = newest.position(of: owner._access.tableID),
            newest.tables[known].columns.indices.contains(property.column),
            let table = view.schema.position(of: owner._access.tableID),
            let place = view.schema.tables[table].position(of: newest.tables[known].columns[property.column].id),
            let row = try view.locate(table, RowKey(owner._key)),
            try view.creationVersion(row).rawValue == owner._creation
        else { return nil }
        if let standing {
            return try CollectionContents(
                view, at: row, key: owner._key, column: place, tag: property.tag, standing: standing)
        }
        guard let elements = property.elements else { return nil }
        return try CollectionContents(
            view, at: row, key: owner._key, column: place, tag: property.tag, elements: elements)
    }

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && changed.isEmpty }

    /// The new place of an element; nil if it was deleted.
    func newPlace(of old: Int) -> Int? { difference?.newPlace(of: old) }

    /// Old places of links to any of `targets`; ascending.
    /// - Complexity: O(log links) per row; O(count) if the collection linked to any of them.
    func oldPlaces(of targets: Set<Int64>) throws(StorageError) -> [(place: Int, target: Int64)] {
        guard let old else { return [] }
        return try Self.places(of: targets, in: old, column)
    }

    /// New places of links to any of `targets`; ascending.
    func newPlaces(of targets: Set<Int64>) throws(StorageError) -> [(place: Int, target: Int64)] {
        guard let new else { return [] }
        return try Self.places(of: targets, in: new, column)
    }

    private static func places(
        of targets: Set<Int64>, in contents: CollectionContents, _ column: _CollectionColumn
    ) throws(StorageError) -> [(place: Int, target: Int64)] {
        let wanted = try contents.linked(of: targets)
        var found: [(place: Int, target: Int64)] = []
        if wanted.isEmpty { return found }
        try contents.reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let cell = try part.value(at: place)
                if cell.kind == .integer, wanted.contains(cell.integerValue) {
                    found.append((place, cell.integerValue))
                }
            }
            return true
        }
        try contents.view.confirm()
        return found
    }
}
