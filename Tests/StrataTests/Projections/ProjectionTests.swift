import Dispatch
import Foundation
import Strata
import Testing

@Suite struct ProjectionTests {
    final class Harbour: EmbeddedObject {
        @Persisted var town = ""
        @Persisted var depth = 0
    }
    final class Owner: Object {
        @Persisted var mail: String?
        @Persisted var home: Harbour?
    }
    final class Boat: Object {
        @Persisted(primaryKey: true) var number = 0
        @Persisted var title = ""
        @Persisted var length = 0.0
        @Persisted var harbour: Harbour?
        @Persisted var owner: Owner?
        @Persisted var crew: List<Sailor>
        @Persisted var guests: MutableSet<Sailor>
        @Persisted var flags: List<String>
    }
    final class Sailor: Object {
        @Persisted var name = ""
        @Persisted var age = 0
        convenience init(_ name: String) {
            self.init()
            self.name = name
        }
    }

    class Card: Projection<Boat> {
        @Projected(\Boat.title) var name
        @Projected(\Boat.title.count) var letters
        @Projected(\Boat.harbour?.town) var town
        @Projected(\Boat.owner?.mail) var mail
        @Projected(\Boat.owner?.home?.town) var ownersTown
        @Projected(\Boat.crew.projectTo.name) var crew: ProjectedCollection<String>
    }
    final class LongCard: Card {
        @Projected(\Boat.length) var length
        @Projected(\Boat.flags) var flags
        @Projected(\Boat.guests.projectTo.age) var ages: ProjectedCollection<Int>
    }

    private func fill() throws -> Realm {
        let realm = try makeRealm([Boat.self])
        try realm.write {
            for number in 1...3 {
                let boat = Boat()
                boat.number = number
                boat.title = ["Ada", "Berta", "Carla"][number - 1]
                boat.length = Double(10 - number)
                boat.harbour = Harbour(value: ["town": "h\(number)", "depth": number])
                if number != 2 { boat.owner = Owner(value: ["mail": "m\(number)", "home": ["town": "o\(number)"]]) }
                for place in 0..<number { boat.crew.append(Sailor("s\(number)\(place)")) }
                boat.guests.insert(Sailor("guest"))
                boat.flags.append("red")
                realm.add(boat)
            }
        }
        return realm
    }

    @Test("a projection shows renamed, linked and computed properties")
    func shownProperties() throws {
        let realm = try fill()
        let boat = try #require(realm.object(ofType: Boat.self, forPrimaryKey: 3))
        let card = LongCard(projecting: boat)
        #expect(card.name == "Carla" && card.letters == 5 && card.town == "h3" && card.mail == "m3")
        #expect(card.ownersTown == "o3" && Array(card.crew) == ["s30", "s31", "s32"] && Array(card.ages) == [0])
        #expect(card.length == 7 && Array(card.flags) == ["red"] && card.realm != nil && !card.isInvalidated)
        try realm.write {
            card.name = "Dora"
            card.flags.append("blue")
            card.crew[1] = "new"
        }
        #expect(boat.title == "Dora" && boat.flags.count == 2 && boat.crew[1].name == "new" && card.letters == 4)
        #expect(card == LongCard(projecting: boat) && Set([card, LongCard(projecting: boat)]).count == 1)
        let unmanaged = Card(projecting: Boat(value: ["title": "x"]))
        unmanaged.name = "y"
        #expect(unmanaged.rootObject.title == "y" && unmanaged.town == nil && unmanaged.realm == nil)
        #expect(_name(for: \LongCard.ownersTown) == "owner.home.town" && _name(for: \LongCard.crew) == "crew")
        try realm.write { realm.delete(boat) }
        #expect(card.isInvalidated)
    }

    @Test("results of projections are filtered and sorted by the properties of the class")
    func filteredResults() throws {
        let realm = try fill()
        let cards = realm.objects(Card.self)
        #expect(cards.map(\.name) == ["Ada", "Berta", "Carla"] && cards.count == 3 && cards[1].town == "h2")
        #expect(cards.filter("title == %@", "Berta").first?.mail == nil)
        #expect(cards.where { $0.length > 7.5 }.map(\.letters) == [3, 5])
        #expect(cards.sorted(byKeyPath: "length").map(\.name) == ["Carla", "Berta", "Ada"])
        #expect(cards.sorted(by: \.title, ascending: false).first?.town == "h3")
        #expect(cards.filter("harbour.depth > 1").sorted(by: ["length"]).limit(1).map(\.name) == ["Carla"])
        #expect(cards.index(of: cards[2]) == 2 && cards.distinct(by: ["harbour.town"]).count == 3)
        #expect(cards.distinct(by: ["owner.mail"]).map(\.mail) == ["m1", "m3"])
        #expect(cards.limit(1, offset: 1).map(\.name) == ["Berta"])
        #expect(throws: Realm.Error.self) { try cards.tryFilter("name == 'Ada'") }
        let frozen = cards.freeze()
        let card = cards[0].freeze()
        try realm.write { realm.deleteAll() }
        #expect(frozen.map(\.town) == ["h1", "h2", "h3"] && frozen.isFrozen && cards.isEmpty)
        #expect(card.isFrozen && Array(card.crew) == ["s10"] && card.crew.isFrozen && card.thaw() == nil)
        #expect(frozen.thaw()?.count == 0)
    }

    @Test("a projected collection is live, or frozen with its owner")
    func projectedCollection() throws {
        let realm = try fill()
        let card = try #require(realm.objects(Card.self).last)
        let names = card.crew
        let frozen = names.freeze()
        try realm.write { card.rootObject.crew.remove(at: 0) }
        #expect(Array(names) == ["s31", "s32"] && Array(frozen) == ["s30", "s31", "s32"] && frozen.isFrozen)
        #expect(
            frozen.thaw().map { Array($0) } == ["s31", "s32"] && names.index(of: "s32") == 1 && names.last == "s32")
        #expect(names.description == "ProjectedCollection<String> {\n\t[0] s31\n\t[1] s32\n}")
        #expect(names.filter { $0 == "s32" }.count == 1 && names.sorted { $0 > $1 } == ["s32", "s31"])
        var seen: [String] = []
        let token = names.observe(keyPaths: ["name"]) { change in
            switch change {
            case .initial(let names): seen.append("initial \(names.count)")
            case .update(let names, let deletions, let insertions, let modifications):
                seen.append("\(Array(names)) \(deletions) \(insertions) \(modifications)")
            case .error(let error): seen.append("\(error)")
            }
        }
        try realm.write { card.crew[0] = "z" }
        try realm.write { card.rootObject.crew[0].age = 9 }
        try realm.write { card.rootObject.crew.append(Sailor("last")) }
        #expect(seen == ["initial 2", "[\"z\", \"s32\"] [] [] [0]", "[\"z\", \"s32\", \"last\"] [] [2] []"])
        token.invalidate()
    }

    /// The notifications of an observer, as text.
    private final class Told {
        var lines: [String] = []
        func receive(_ change: ObjectChange<LongCard>) {
            switch change {
            case .change(let card, let properties):
                let parts = properties.map { "\($0.name) \($0.oldValue ?? "nil") -> \($0.newValue ?? "nil")" }
                lines.append("\(card.rootObject.number): " + parts.joined(separator: ", "))
            case .deleted: lines.append("deleted")
            case .error(let error): lines.append("\(error)")
            }
        }
    }

    @Test("an observer of a projection is notified of projected properties, by their projected names")
    func observedProjection() throws {
        let realm = try fill()
        let card = try #require(realm.objects(LongCard.self).last)
        let (all, mail, crew) = (Told(), Told(), Told())
        let tokens = [
            card.observe { all.receive($0) }, card.observe(keyPaths: [\.mail]) { mail.receive($0) },
            card.observe(keyPaths: ["crew"]) { crew.receive($0) },
        ]
        let boat = card.rootObject
        try realm.write { boat.title = "Emma" }
        #expect(all.lines == ["3: name Carla -> Emma, letters 5 -> 4"] && mail.lines.isEmpty)
        try realm.write { boat.harbour?.depth = 50 }
        #expect(all.lines.count == 1)
        try realm.write { boat.owner?.mail = "new" }
        #expect(all.lines.last == "3: mail m3 -> new, ownersTown o3 -> o3" && mail.lines == ["3: mail m3 -> new"])
        try realm.write { boat.owner?.home?.town = "Rome" }
        #expect(all.lines.last == "3: mail new -> new, ownersTown o3 -> Rome" && mail.lines.count == 1)
        try realm.write { boat.crew[0].age = 3 }
        #expect(crew.lines.isEmpty)
        try realm.write { boat.crew[0].name = "c" }
        #expect(
            crew.lines.count == 1 && crew.lines[0].hasPrefix("3: crew nil -> ProjectedCollection<String> {\n\t[0] c"))
        try realm.write { boat.flags.append("blue") }
        #expect(all.lines.last?.hasPrefix("3: flags nil -> List<string> <0x") == true)
        try realm.write { realm.delete(boat) }
        #expect(all.lines.last == "deleted" && mail.lines.last == "deleted" && crew.lines.last == "deleted")
        withExtendedLifetime(tokens) {}
    }

    @Test("an observer of results of projections is notified of changes of projected properties")
    func observedResults() throws {
        let realm = try fill()
        let cards = realm.objects(Card.self).sorted(byKeyPath: "number")
        var seen: [[Int]] = []
        let token = cards.observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                seen.append(deletions + [-1] + insertions + [-1] + modifications)
            }
        }
        try realm.write { cards[1].name = "Bea" }
        try realm.write { cards[1].rootObject.length = 1 }
        try realm.write { cards[2].rootObject.owner?.home?.town = "x" }
        try realm.write { cards[2].crew[2] = "y" }
        try realm.write { realm.delete(cards[0].rootObject) }
        #expect(seen == [[-1, -1, 1], [-1, -1, 2], [-1, -1, 2], [0, -1, -1]])
        token.invalidate()
    }

    @Test("projections and their results go to another thread by reference")
    func otherThread() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Boat.self])
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Boat.self, value: ["number": 1, "title": "Ada"]) }
        let cards = realm.objects(Card.self)
        let one = ThreadSafeReference(to: try #require(cards.first))
        let many = ThreadSafeReference(to: cards)
        OtherThread.run {
            guard let realm = try? Realm(configuration: configuration) else { return }
            #expect(realm.resolve(one)?.name == "Ada" && realm.resolve(many)?.first?.name == "Ada")
            #expect(realm.resolve(one) == nil)
        }
    }

    @Test("a projection prints its properties and where they come from")
    func printedProperties() throws {
        let realm = try fill()
        let card = try #require(realm.objects(Card.self).first)
        let text = card.description
        #expect(text.hasPrefix("Card<Boat> <0x") && text.contains("\tname(\\.title) = Ada;\n"))
        #expect(
            text.contains("\townersTown(\\.owner.home.town) = Optional(\"o1\");"))
        #expect(text.contains("\tcrew(\\.crew) = ProjectedCollection<String> {\n\t[0] s10\n};\n}"))
    }
}
