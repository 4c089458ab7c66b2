import RunRecords
import Seeds

/// The data of scenarios about damaged files: 500 persons, 500 dogs, 1 500 links, texts of 12 and of 40 bytes.
///
/// Small enough for every bit to be flipped, and with every kind of column. Each person has one favourite dog and a
/// list of two. The tables have names of their own, because their columns are not those of `people`.
package struct DamageDataset: DatasetSource {
    package let name: String
    package let summary: String
    package let defaultSize: Int?
    private let hasLongNotes: Bool

    package init() {
        name = "damage"
        summary = "generated: 500 persons, 500 dogs, 1 500 links, texts of 12 and 40 bytes"
        defaultSize = 500
        hasLongNotes = false
    }

    private init(longNotes name: String) {
        self.name = name
        summary = "as damage, 1 024 of each; every eighth note has 3 000 bytes, every 256th 70 000"
        defaultSize = 1_024
        hasLongNotes = true
    }

    /// The same with notes that do not fit into a page of rows: engines store them in pages of their own.
    package static let longTexts = DamageDataset(longNotes: "long-texts")

    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        let count = size ?? defaultSize ?? 0
        guard count > 0, count < 100_000 else {
            throw DatasetError("\(name): \(count) rows; names of 12 bytes reach from 1 to 99 999")
        }
        return TableSet(
            dataset: name,
            content: [
                Self.persons(0..<count, dogCount: count, noteBytes: hasLongNotes ? Self.longNoteBytes : { _ in 40 }),
                Self.dogs(0..<count),
            ])
    }

    /// Long notes are in odd rows alone: a deletion of every second row takes them all, one of runs of rows takes half
    /// of them.
    private static func longNoteBytes(_ id: Int) -> Int {
        if id % 256 == 9 { return 70_000 }
        return id % 8 == 3 ? 3_000 : 40
    }

    /// Persons with these ids, also those after the last of a data set; they link to dogs 0 ..< dogCount.
    package static func persons(
        _ ids: Range<Int>, dogCount: Int, noteBytes: (_ id: Int) -> Int = { _ in 40 }
    ) -> Table {
        var names = TextColumn()
        var notes = TextColumn()
        var favourites: [Int32] = []
        var dogs = LinkListColumn()
        func dog(_ number: UInt64) -> Int32 { Int32(splitMix(number) % UInt64(dogCount)) }
        for id in ids {
            let number = UInt64(id)
            names.append("person-", id, width: 5)
            let bytes = noteBytes(id)
            // Hashed numbers of different notes never overlap.
            let first = number << (bytes > 4_000 ? 16 : 8)
            notes.append(hexadecimal: (0..<UInt64(bytes / 16 + 1)).map { splitMix(first | $0) }, digits: bytes)
            favourites.append(dog(number ^ 0xFA00_0000))
            dogs.append([dog(number ^ 0xD100_0000), dog(number ^ 0xD200_0000)])
        }
        return Table(
            name: "DamagePerson", key: "id",
            columns: [
                Column("id", .integer(ids.map { Int64($0) })),
                Column("name", .text(names)),
                Column("note", .text(notes)),
                Column("age", .integer(ids.map { PeopleDataset.age($0) })),
                Column("score", .real(ids.map { PeopleDataset.score($0) })),
                Column("favourite", .link(target: "DamageDog", favourites)),
                Column("dogs", .links(target: "DamageDog", dogs)),
            ])
    }

    private static func dogs(_ ids: Range<Int>) -> Table {
        var names = TextColumn()
        for id in ids { names.append("dog-", id, width: 8) }
        return Table(
            name: "DamageDog", key: "id",
            columns: [
                Column("id", .integer(ids.map { Int64($0) })),
                Column("name", .text(names)),
                Column("age", .integer(ids.map { Int64(splitMix(UInt64($0) ^ 0xD06) % 15) })),
            ])
    }
}
