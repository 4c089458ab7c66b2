import RunRecords
import Seeds

/// Generated people: `Person(id, name, age, score, dogs)` and `Dog(name, age)`.
///
/// Every value is derived from the row's number alone, so that any program can make the same data: with mix =
/// splitmix64's finalizer, `id` = 0 ..< N, `name` = "person-%06d" of id, `age` = mix(id) % 100, `score` = mix(id ^
/// 0x5555) % 100000 / 1000. Dog d of all dogs has `name` = "dog-%07d" of d and `age` = mix(d ^ 0xD06) % 15; person p
/// has the dogs p * k ..< (p + 1) * k. The seed changes nothing.
package struct PeopleDataset: RangedDatasetSource {
    package let name: String
    package let dogsPerPerson: Int

    /// Workloads insert, read and update people without dogs; traversals of links use people with four dogs.
    package init(name: String = "people", dogsPerPerson: Int = 0) {
        self.name = name
        self.dogsPerPerson = dogsPerPerson
    }

    package var summary: String {
        dogsPerPerson == 0
            ? "generated persons: id, name, age, score, an empty list of dogs"
            : "generated persons with \(dogsPerPerson) dogs each"
    }

    package var defaultSize: Int? { dogsPerPerson == 0 ? 1_000_000 : 100_000 }

    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        let count = size ?? defaultSize ?? 0
        guard count >= 0, count <= Int(Int32.max) / max(1, dogsPerPerson) else {
            throw DatasetError("\(name): \(count) rows cannot be linked to by 32-bit numbers")
        }
        return TableSet(
            dataset: name,
            content: [
                Self.persons(0..<count, dogsPerPerson: dogsPerPerson), Self.dogs(0..<(count * dogsPerPerson)),
            ])
    }

    /// The persons with these ids: also those after the last of a data set, for rows that are inserted later.
    package static func persons(_ ids: Range<Int>, dogsPerPerson: Int = 0) -> Table {
        var names = TextColumn()
        names.reserve(rows: ids.count, bytesPerRow: 13)
        var dogs = LinkListColumn()
        for id in ids {
            names.append("person-", id, width: 6)
            dogs.append(Int32(id * dogsPerPerson)..<Int32((id + 1) * dogsPerPerson))
        }
        return Table(
            name: "Person", key: "id",
            columns: [
                Column("id", .integer(ids.map { Int64($0) })),
                Column("name", .text(names)),
                Column("age", .integer(ids.map { age($0) })),
                Column("score", .real(ids.map { score($0) })),
                Column("dogs", .links(target: "Dog", dogs)),
            ])
    }

    package var hasMainRowsAlone: Bool { dogsPerPerson == 0 }

    package func mainRows(_ rows: Range<Int>) -> Table {
        Self.persons(rows, dogsPerPerson: dogsPerPerson)
    }

    package static func age(_ id: Int) -> Int64 {
        Int64(splitMix(UInt64(id)) % 100)
    }

    package static func score(_ id: Int) -> Double {
        Double(splitMix(UInt64(id) ^ 0x5555) % 100_000) / 1_000
    }

    private static func dogs(_ numbers: Range<Int>) -> Table {
        var names = TextColumn()
        names.reserve(rows: numbers.count, bytesPerRow: 11)
        for number in numbers { names.append("dog-", number, width: 7) }
        return Table(
            name: "Dog", key: nil,
            columns: [
                Column("name", .text(names)),
                Column("age", .integer(numbers.map { Int64(splitMix(UInt64($0) ^ 0xD06) % 15) })),
            ])
    }
}
