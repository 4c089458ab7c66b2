import Foundation
import Strata
import Testing

/// Custom types in typed conditions, compared by their stored form.
@Suite struct CustomTypeQueryTests {
    struct Meters: CustomPersistable {
        let value: Double
        init(_ value: Double) { self.value = value }
        init(persistedValue: Double) { value = persistedValue }
        var persistableValue: Double { value }
    }
    struct Code: FailableCustomPersistable {
        let text: String
        init?(persistedValue: String) {
            guard !persistedValue.isEmpty else { return nil }
            text = persistedValue
        }
        init(_ text: String) { self.text = text }
        var persistableValue: String { text }
    }
    struct Flag: CustomPersistable {
        let isSet: Bool
        init(persistedValue: Bool) { isSet = persistedValue }
        var persistableValue: Bool { isSet }
    }
    struct Blob: CustomPersistable {
        let data: Data
        init(persistedValue: Data) { data = persistedValue }
        var persistableValue: Data { data }
    }
    final class Spot: EmbeddedObject {
        @Persisted var x = 0
        @Persisted var name: String?
    }
    struct Place: CustomPersistable {
        var x = 0
        var name: String?
        init(x: Int, name: String?) { (self.x, self.name) = (x, name) }
        init(persistedValue: Spot) { (x, name) = (persistedValue.x, persistedValue.name) }
        var persistableValue: Spot { Spot(value: ["x": x, "name": name as Any]) }
    }
    final class Trip: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var length = Meters(0)
        @Persisted var maximum: Meters?
        @Persisted var code = Code("none")
        @Persisted var nick: Code?
        @Persisted var flag = Flag(persistedValue: false)
        @Persisted var blob = Blob(persistedValue: Data())
        @Persisted var start = Place(x: 0, name: nil)
        @Persisted var end: Place?
        @Persisted var legs: List<Meters>
        @Persisted var pauses: MutableSet<Meters?>
        @Persisted var tags: Map<String, Code?>
        @Persisted var stops: List<Place>
        @Persisted var named: Map<String, Place?>
        @Persisted var next: Trip?
        @Persisted var others: List<Trip>
    }

    private func trips() throws -> Results<Trip> {
        let realm = try makeRealm([Trip.self, Spot.self])
        try realm.write {
            for id in 0..<4 {
                let trip = Trip()
                trip.id = id
                trip.length = Meters(Double(id))
                trip.maximum = id == 0 ? nil : Meters(Double(id * 10))
                trip.code = Code("code \(id)")
                trip.nick = id == 1 ? nil : Code("Nick \(id)")
                trip.flag = Flag(persistedValue: id == 2)
                trip.blob = Blob(persistedValue: Data([1, UInt8(id)]))
                trip.start = Place(x: id, name: id == 3 ? nil : "p\(id)")
                trip.end = id == 0 ? nil : Place(x: 9, name: nil)
                trip.legs.append(objectsIn: (0..<id).map { Meters(Double($0) + 0.5) })
                trip.pauses.insert(objectsIn: [nil, Meters(Double(id))])
                trip.tags["a"] = .some(Code("x\(id)"))
                trip.stops.append(objectsIn: (0..<id).map { Place(x: $0, name: "s") })
                trip.named["home"] = .some(Place(x: id, name: "home"))
                realm.add(trip)
                trip.next = realm.object(ofType: Trip.self, forPrimaryKey: id - 1)
                trip.others.append(objectsIn: realm.objects(Trip.self).where { $0.id < id })
            }
        }
        return realm.objects(Trip.self)
    }

    private func ids(_ results: Results<Trip>) -> [Int] { results.map(\.id).sorted() }

    @Test("scalars are compared, ordered, listed and searched in")
    func comparedScalars() throws {
        let trips = try trips()
        #expect(ids(trips.where { $0.length == Meters(2) }) == [2])
        #expect(ids(trips.where { $0.length != Meters(2) }) == [0, 1, 3])
        #expect(ids(trips.where { $0.length > Meters(1) }) == [2, 3])
        #expect(ids(trips.where { $0.length.in([Meters(0), Meters(3)]) }) == [0, 3])
        #expect(ids(trips.where { $0.length.persistableValue.contains(1.0...2.0) }) == [1, 2])
        #expect(ids(trips.where { $0.maximum == nil }) == [0])
        #expect(ids(trips.where { $0.maximum <= Meters(20) }) == [1, 2])
        #expect(ids(trips.where { $0.maximum.persistableValue.contains(10.0..<20.0) }) == [1])
        #expect(ids(trips.where { $0.maximum.in([nil, Meters(10)]) }) == [0, 1])
        #expect(ids(trips.where { $0.code == Code("code 1") }) == [1])
        #expect(ids(trips.where { $0.code.starts(with: Code("CODE"), options: .caseInsensitive) }) == [0, 1, 2, 3])
        #expect(ids(trips.where { $0.code.persistableValue.ends(with: "3") }) == [3])
        #expect(ids(trips.where { $0.code.like(Code("*2")) }) == [2])
        #expect(ids(trips.where { $0.nick.equals(Code("nick 2"), options: .caseInsensitive) }) == [2])
        #expect(ids(trips.where { $0.flag == Flag(persistedValue: true) }) == [2])
        #expect(ids(trips.where { $0.flag.persistableValue }) == [2])
        #expect(ids(trips.where { $0.blob.starts(with: Blob(persistedValue: Data([1, 3]))) }) == [3])
        #expect(ids(trips.where { $0.length < $0.maximum }) == [1, 2, 3])
        #expect(ids(trips.filter("length == %@", Meters(2))) == [2])
        #expect(ids(trips.where { $0.next.length == Meters(2) }) == [3])
    }

    @Test("collections are queried for elements, ranges and numbers")
    func queriedCollections() throws {
        let trips = try trips()
        #expect(ids(trips.where { $0.legs.contains(Meters(1.5)) }) == [2, 3])
        #expect(ids(trips.where { $0.legs == Meters(0.5) }) == [1, 2, 3])
        #expect(ids(trips.where { $0.legs > Meters(2) }) == [3])
        #expect(ids(trips.where { $0.legs.containsAny(in: [Meters(7), Meters(1.5)]) }) == [2, 3])
        #expect(ids(trips.where { $0.legs.persistableValue.contains(0.5...1.5) }) == [1, 2])
        #expect(ids(trips.where { $0.legs.persistableValue.contains(1.0...3.0) }) == [])
        #expect(ids(trips.where { $0.legs.persistableValue.contains(0.5..<1.5) }) == [1])
        // A nested count is computed for each element.
        let counted = trips.where { (($0.others.id >= 0).count == 1 && $0.others.id >= 0).count == 1 }
        #expect(ids(counted) == [2, 3])
        #expect(ids(trips.where { $0.legs.max == Meters(1.5) }) == [2])
        #expect(ids(trips.where { $0.legs.sum >= Meters(2) }) == [2, 3])
        #expect(ids(trips.where { $0.legs.avg == Meters(1) }) == [2])
        #expect(ids(trips.where { $0.pauses.contains(nil) }) == [0, 1, 2, 3])
        #expect(ids(trips.where { $0.pauses.contains(Meters(3)) }) == [3])
        #expect(ids(trips.where { $0.others.length.min == Meters(0) }) == [1, 2, 3])
        #expect(ids(trips.where { $0.tags["a"] == Code("x1") }) == [1])
        #expect(ids(trips.where { $0.tags.contains(Code("x2")) }) == [2])
        #expect(ids(trips.where { $0.tags.values.starts(with: Code("x")) }) == [0, 1, 2, 3])
        #expect(ids(trips.where { $0.tags.containsAny(in: [Code("x0"), Code("x3")]) }) == [0, 3])
        let legs = try #require(trips.where { $0.id == 3 }.first).legs
        #expect(legs.where { $0 >= Meters(1) }.map(\.value) == [1.5, 2.5])
    }

    @Test("types that are embedded objects are compared by all their properties")
    func embeddedAreCompared() throws {
        let trips = try trips()
        #expect(ids(trips.where { $0.start == Place(x: 1, name: "p1") }) == [1])
        #expect(ids(trips.where { $0.start != Place(x: 1, name: "p1") }) == [0, 2, 3])
        #expect(ids(trips.where { $0.start == Place(x: 3, name: nil) }) == [3])
        #expect(ids(trips.where { $0.start.persistableValue.x > 1 }) == [2, 3])
        #expect(ids(trips.where { $0.end == Place(x: 9, name: nil) }) == [1, 2, 3])
        #expect(ids(trips.where { $0.end != Place(x: 9, name: nil) }) == [0])
        #expect(ids(trips.where { $0.end == nil }) == [0])
        #expect(ids(trips.where { $0.start.in([Place(x: 1, name: "p1"), Place(x: 2, name: "p1")]) }) == [1])
        #expect(ids(trips.where { $0.stops == Place(x: 1, name: "s") }) == [2, 3])
        #expect(ids(trips.where { $0.stops != Place(x: 0, name: "s") }) == [2, 3])
        #expect(ids(trips.where { $0.stops.none == Place(x: 0, name: "s") }) == [0])
        #expect(ids(trips.where { $0.stops.all == Place(x: 0, name: "s") }) == [0, 1])
        #expect(ids(trips.where { $0.named.values == Place(x: 2, name: "home") }) == [2])
        #expect(ids(trips.where { $0.named["home"] == Place(x: 2, name: "home") }) == [2])
        #expect(ids(trips.where { $0.others.start == Place(x: 2, name: "p2") }) == [3])
        #expect(ids(trips.filter("start == %@", Place(x: 1, name: "p1"))) == [1])
        let query = trips.where { $0.start.persistableValue.name != "p2" || $0.start == Place(x: 2, name: "p2") }
        #expect(ids(query) == [0, 1, 2, 3])
    }

    final class Linked: EmbeddedObject { @Persisted var trip: Trip? }
    struct Connection: CustomPersistable {
        init(persistedValue: Linked) {}
        var persistableValue: Linked { Linked() }
    }
    final class Ticket: Object { @Persisted var connection: Connection? }

    @Test("embedded objects with links cannot be compared")
    func embeddedWithLinks() throws {
        let tickets = try makeRealm([Ticket.self, Linked.self, Trip.self]).objects(Ticket.self)
        let error = #expect(throws: Realm.Error.self) {
            try tickets.tryFilter("connection == %@", Connection(persistedValue: Linked()))
        }
        #expect(error?.code == .invalidInput && error?.message.contains("'Linked.trip' is a link") == true)
    }

    @Test("ordering embedded objects is refused")
    func orderedEmbedded() throws {
        let trips = try trips()
        let error = #expect(throws: Realm.Error.self) { try trips.tryFilter("start < %@", Place(x: 1, name: nil)) }
        #expect(error?.code == .invalidInput && error?.message.contains("no order") == true)
    }
}
