import RunRecords
import Seeds

/// The data that damaged files are compared on: 500 persons, 500 dogs, 1 500 links, texts of 12 and of 40 bytes.
///
/// Small enough for every bit to be flipped, and with every kind of column. Each person has one favourite dog and a
/// list of two. The tables have names of their own, because their columns are not those of `people`.
package struct DamageDataset: DatasetSource {
    package let name = "damage"
    package let summary = "generated: 500 persons, 500 dogs, 1 500 links, texts of 12 and 40 bytes"
    package let defaultSize: Int? = 500

    package init() {}

    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        let count = size ?? 500
        guard count > 0, count < 100_000 else {
            throw DatasetError("damage: \(count) rows; names of 12 bytes reach from 1 to 99 999")
        }
        return TableSet(
            dataset: name, content: [Self.persons(0..<count, dogCount: count), Self.dogs(0..<count)])
    }

    /// Persons with these ids, also those after the last of a data set; they link to dogs 0 ..< dogCount.
    package static func persons(_ ids: Range<Int>, dogCount: Int) -> Table {
        var names = TextColumn()
        var notes = TextColumn()
        var favourites: [Int32] = []
        var dogs = LinkListColumn()
        func dog(_ number: UInt64) -> Int32 { Int32(splitMix(number) % UInt64(dogCount)) }
        for id in ids {
            let number = UInt64(id)
            names.append("person-", id, width: 5)
            notes.append(hexadecimal: (0..<3).map { splitMix(number << 8 | $0) }, digits: 40)
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
