import Foundation
import Strata
import Testing

@Suite struct DescriptionTests {
    enum Mood: Int, PersistableEnum { case low = 3, high = 7 }
    final class Room: Object {
        @Persisted var title = "r"
        @Persisted var isOpen = true
        @Persisted var mood = Mood.high
        @Persisted var seen = Date(timeIntervalSince1970: 1)
        @Persisted var data = Data([0x61, 0x02])
        @Persisted var value: AnyRealmValue
        @Persisted var note: Note?
        @Persisted var numbers: List<Int>
        @Persisted var notes: MutableSet<Note>
        @Persisted var named: Map<String, Note?>
        @Persisted(originProperty: "rooms") var houses: LinkingObjects<House>
    }
    final class Note: Object { @Persisted var text = "n" }
    final class Labelled: Object {
        @Persisted(primaryKey: true) var id: ObjectId
        @Persisted var uuid: UUID
        @Persisted var any: AnyRealmValue
        @Persisted var text = ""
    }
    final class House: Object {
        @Persisted var rooms: List<Room>
        @Persisted var inner: List<House>
    }

    /// Without the addresses of collections.
    private func plain(_ text: String) -> String { text.replacing(/<0x[0-9a-f]+>/, with: "<>") }

    @Test("objects print their properties and linked objects", arguments: [false, true])
    func propertiesAndLinks(managed: Bool) throws {
        let realm = try makeRealm([Room.self, House.self, Note.self])
        let room = Room()
        room.note = Note()
        room.numbers.append(objectsIn: [5, 6])
        room.named["a"] = Note()
        if managed { try realm.write { realm.add(room) } }
        let lines = [
            "Room {", "\ttitle = r;", "\tisOpen = 1;", "\tmood = 7;", "\tseen = 1970-01-01 00:00:01 +0000;",
            "\tdata = <6102 - 2 total bytes>;", "\tvalue = (null);", "\tnote = Note {", "\t\ttext = n;", "\t};",
            "\tnumbers = List<int> <> (", "\t\t[0] 5,", "\t\t[1] 6", "\t);", "\tnotes = MutableSet<Note> <> (", "\t",
            "\t);", "\tnamed = Map<string, Note> <> (", "\t\t[a]: Note {", "\t\t\ttext = n;", "\t\t}", "\t);", "}",
        ]
        #expect(plain(room.description) == lines.joined(separator: "\n"))
    }

    @Test("cycles end at a depth, and long collections are cut")
    func cyclesEnd() throws {
        let house = House()
        house.inner.append(house)
        let text = plain(house.description)
        #expect(text.contains("[0] House {") && text.contains("inner = <Maximum depth exceeded>;"))
        let room = Room()
        room.numbers.append(objectsIn: 0..<250)
        let numbers = plain(room.numbers.description)
        #expect(numbers.hasPrefix("List<int> <> (\n\t[0] 0,\n") && numbers.contains("\t[99] 99\n"))
        #expect(numbers.hasSuffix("\n\t... 150 objects skipped.\n)"))
    }

    @Test("results and inverses print their elements")
    func printedElements() throws {
        let realm = try makeRealm([Room.self, House.self, Note.self])
        let house = House()
        house.rooms.append(Room())
        try realm.write {
            realm.add(house)
            realm.add(Note())
        }
        #expect(
            plain(realm.objects(Note.self).description) == "Results<Note> <> (\n\t[0] Note {\n\t\ttext = n;\n\t}\n)")
        #expect(plain(house.rooms[0].houses.description).hasPrefix("LinkingObjects<House> <> (\n\t[0] House {\n"))
        #expect(plain(AnyRealmCollection(house.inner).description) == "AnyRealmCollection<House> <> (\n\n)")
    }

    @Test("sort descriptors and property types print by the names that RealmSwift has")
    func namesThatRealmSwiftHas() {
        #expect("\(Strata.SortDescriptor("text"))" == "SortDescriptor(keyPath: text, direction: ascending)")
        #expect("\(Strata.SortDescriptor("a.b").reversed())" == "SortDescriptor(keyPath: a.b, direction: descending)")
        let types = Labelled().objectSchema.properties.map { $0.description.split(separator: "\n")[1] }
        #expect(types == ["\ttype = object id;", "\ttype = uuid;", "\ttype = mixed;", "\ttype = string;"])
    }
}
