import Seeds
import StoreMigration

/// Records in which two stores that were equal are made to differ, in every way in which records can differ.
struct PlantedDivergences {
    enum Kind: Int, CaseIterable {
        case changedInOld, changedInNew
        /// Null in the old store, and in the new one a value that looks like it.
        case nullAndZero, nullAndEmpty
        case nextDate
        case gone, goneFromNew, onlyInOld, onlyInNew
        /// The row of one store has the values of another row, under its own key.
        case exchanged
        case bytes, link
    }

    struct Row {
        var kind: Kind
        var id: Int
        var old: ContactRow?
        var new: ContactRow?
    }

    let rows: [Row]

    /// Numbers of rows that no other row links to: deleting a linked row would null that link, and its row would
    /// differ, too.
    static func numbers(_ wanted: Int, upTo count: Int, _ random: inout RandomStream) -> [Int] {
        var taken: Set<Int> = []
        var numbers: [Int] = []
        while numbers.count < wanted {
            let number = random.below(count) + 1
            if number % 6 != 5, taken.insert(number).inserted { numbers.append(number) }
        }
        return numbers
    }

    var ids: [Int] { rows.map(\.id).sorted() }

    /// - Parameters:
    ///   - numbers: of rows that both stores have, each used once.
    ///   - firstFree: no row has this number or a larger one.
    ///   - row: the row of a number, as both stores have it.
    init(_ count: Int, among numbers: [Int], firstFree: Int, _ row: (Int) -> ContactRow) {
        rows = (0..<count).map { place in
            let kind = Kind.allCases[place % Kind.allCases.count]
            let same = row(numbers[place])
            var (old, new) = (same, same)
            switch kind {
            // The store in which the row was changed has the newer row.
            case .changedInOld: (old.name, old.changed) = (old.name + "#", old.changed + 5)
            case .changedInNew: (new.rating, new.changed) = (new.rating + 0.25, new.changed + 5)
            case .nullAndZero: (old.age, new.age) = (nil, 0)
            case .nullAndEmpty: (old.note, new.note) = (nil, "")
            case .nextDate: new.changed = new.changed.nextUp
            case .gone: return Row(kind: kind, id: same.id, old: nil, new: same)
            case .goneFromNew: return Row(kind: kind, id: same.id, old: same, new: nil)
            case .onlyInOld, .onlyInNew:
                let added = ContactRow(number: firstFree + place)
                return Row(
                    kind: kind, id: added.id, old: kind == .onlyInOld ? added : nil,
                    new: kind == .onlyInNew ? added : nil)
            case .exchanged:
                var other = ContactRow(number: same.id + 1, friend: same.friend)
                other.id = same.id
                new = other
            case .bytes: new.photo = (new.photo ?? []) + [0]
            case .link: new.friend = same.friend == nil ? same.id : nil
            }
            return Row(kind: kind, id: same.id, old: old, new: new)
        }
    }

    /// Writes the rows to both stores past the writer, which has both open.
    func plant(_ place: MigrationPlace) throws {
        try place.old.put(rows.compactMap(\.old))
        try place.old.delete(rows.filter { $0.old == nil }.map(\.id))
        try place.new.put(rows.compactMap(\.new))
        try place.new.delete(rows.filter { $0.new == nil }.map(\.id))
    }

    /// The rows that both stores must have after the newer row won, and the row of `tie` if both were equally new.
    func newest(tie: StoreSide) -> [ContactRow?] {
        rows.map { row in
            guard let old = row.old, let new = row.new else { return row.old ?? row.new }
            if old.changed != new.changed { return old.changed > new.changed ? old : new }
            return tie == .old ? old : new
        }
    }
}
