import Seeds
import StoreMigration

/// Records in which two stores that were equal are made to differ, of each kind that there is.
struct PlantedDivergences {
    enum Kind: Int, CaseIterable {
        case changedInOld, changedInNew
        /// Null in the old store, and in the new one what looks like it.
        case nullAndZero, nullAndEmpty
        case nextDate
        case gone, goneFromNew, onlyInOld, onlyInNew
        /// One of the two has another one's values, and keeps its key.
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

    /// Rows that no other one leads to: with such a row a link of another one would go, and differ as well.
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
    ///   - firstFree: no row has this number or one above it.
    ///   - row: what both stores have.
    init(_ count: Int, among numbers: [Int], firstFree: Int, _ row: (Int) -> ContactRow) {
        rows = (0..<count).map { place in
            let kind = Kind.allCases[place % Kind.allCases.count]
            let same = row(numbers[place])
            var (old, new) = (same, same)
            switch kind {
            // The side that was changed is the newer one.
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

    /// Behind the back of a writer that has both open.
    func plant(_ place: MigrationPlace) throws {
        try place.old.put(rows.compactMap(\.old))
        try place.old.delete(rows.filter { $0.old == nil }.map(\.id))
        try place.new.put(rows.compactMap(\.new))
        try place.new.delete(rows.filter { $0.new == nil }.map(\.id))
    }

    /// What has to stand in both where the newer one is right, and of two equally old ones that of `tie`.
    func newest(tie: StoreSide) -> [ContactRow?] {
        rows.map { row in
            guard let old = row.old, let new = row.new else { return row.old ?? row.new }
            if old.changed != new.changed { return old.changed > new.changed ? old : new }
            return tie == .old ? old : new
        }
    }
}
