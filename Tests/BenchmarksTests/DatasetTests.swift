import RunRecords
import Seeds
import Testing

@testable import Datasets

@Suite struct DatasetTests {
    @Test("people follow their definition on every machine")
    func people() throws {
        let set = try PeopleDataset().tables(size: 1_000, seed: Seed(7))
        #expect(set.digest == 0x8BB6_751B_A90F_8A63)
        #expect(set.isComparable)
        let persons = try #require(set.table("Person"))
        #expect(persons.key == "id")
        #expect(persons.rowCount == 1_000)
        #expect(set.table("Dog")?.rowCount == 0)
        // splitmix64 of 0 and of 0x5555, computed independently.
        #expect(
            persons.values(row: 0) == [
                .integer(0), .text("person-000000"), .integer(Int64(0xE220_A839_7B1D_CDAF % 100 as UInt64)),
                .real(Double(splitMix(0x5555) % 100_000) / 1_000), .links([]),
            ])
        #expect(persons.value(row: 999, column: 1) == .text("person-000999"))
    }

    @Test("a person has the dogs of her number")
    func dogs() throws {
        let set = try PeopleDataset(name: "people-dogs", dogsPerPerson: 4).tables(size: 10, seed: Seed(0))
        let persons = try #require(set.table("Person"))
        #expect(persons.value(row: 2, column: 4) == .links([8, 9, 10, 11]))
        #expect(set.table("Dog")?.rowCount == 40)
        #expect(set.table("Dog")?.value(row: 39, column: 0) == .text("dog-0000039"))
    }

    @Test("a person does not depend on the seed and the number of rows after her")
    func rowsStandAlone() throws {
        let small = try PeopleDataset().tables(size: 10, seed: Seed(1)).main
        let large = try PeopleDataset().tables(size: 100, seed: Seed(2)).main
        for row in 0..<10 { #expect(small.values(row: row) == large.values(row: row)) }
        #expect(PeopleDataset.persons(50..<60).values(row: 3) == large.values(row: 53))
    }

    @Test("damage has 500 persons, 500 dogs and 1 500 links, texts of 12 and 40 bytes")
    func damage() throws {
        let set = try DamageDataset().tables(size: nil, seed: Seed(1))
        #expect(set.digest == 0x3C8C_26C8_00EE_CE89)
        let persons = try #require(set.table("DamagePerson"))
        #expect(persons.rowCount == 500)
        #expect(set.table("DamageDog")?.rowCount == 500)
        var links = 0
        for row in 0..<500 {
            guard case .text(let name) = persons.value(row: row, column: 1),
                case .text(let note) = persons.value(row: row, column: 2),
                case .link(let favourite) = persons.value(row: row, column: 5),
                case .links(let dogs) = persons.value(row: row, column: 6)
            else {
                Issue.record("row \(row) has other kinds of values")
                return
            }
            #expect(name.utf8.count == 12)
            #expect(note.utf8.count == 40)
            #expect((0..<500).contains(favourite))
            links += 1 + dogs.count
        }
        #expect(links == 1_500)
    }

    @Test("long-texts has the contents of damage, and notes larger than a page")
    func longTexts() throws {
        let set = try DamageDataset.longTexts.tables(size: nil, seed: Seed(1))
        let persons = try #require(set.table("DamagePerson"))
        #expect(persons.rowCount == 1_024)
        var sizes: [Int: Int] = [:]
        for row in 0..<1_024 {
            guard case .text(let note) = persons.value(row: row, column: 2) else { continue }
            sizes[note.utf8.count, default: 0] += 1
        }
        #expect(sizes == [40: 892, 3_000: 128, 70_000: 4])
        let others = DamageDataset.persons(0..<4, dogCount: 1_024)
        for row in 0..<3 { #expect(persons.value(row: row, column: 6) == others.value(row: row, column: 6)) }
    }

    @Test("the digest detects a changed value, a moved boundary and another name")
    func digestSees() throws {
        func digest(_ texts: [String], name: String = "a") -> UInt64 {
            ContentDigest.of([Table(name: "T", key: nil, columns: [Column(name, .text(TextColumn(texts)))])])
        }
        #expect(digest(["ab", "c"]) == digest(["ab", "c"]))
        #expect(digest(["ab", "c"]) != digest(["a", "bc"]))
        #expect(digest(["ab", "c"]) != digest(["ab", "d"]))
        #expect(digest(["ab", "c"]) != digest(["ab", "c"], name: "b"))
        #expect(digest(["ab"]) != digest(["ab", ""]))
    }

    @Test("an impossible size is an error with the reason")
    func badSize() {
        #expect(throws: DatasetError.self) { try PeopleDataset().tables(size: -1, seed: Seed(0)) }
        #expect(throws: DatasetError.self) { try DamageDataset().tables(size: 100_000, seed: Seed(0)) }
    }

    @Test("every data set is registered under a unique name")
    func registration() {
        var registry = DatasetRegistry()
        DatasetRegistration.register(into: &registry)
        let names = ["people", "people-dogs", "people-wide", "people-large", "numbers", "damage", "long-texts", "dpkg"]
        #expect(registry.sources.map(\.name) == names)
    }
}
