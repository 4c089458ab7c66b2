import Foundation
import Strata
import Testing

/// Places on the earth, and shapes in which queries search.
@Suite struct GeoQueryTests {
    final class Location: EmbeddedObject {
        @Persisted var coordinates: List<Double>
        @Persisted var type = "Point"
        convenience init(_ latitude: Double, _ longitude: Double) {
            self.init()
            coordinates.append(objectsIn: [longitude, latitude])
        }
    }
    final class Half: EmbeddedObject { @Persisted var coordinates: List<Double> }
    final class City: Object {
        @Persisted(primaryKey: true) var name = ""
        @Persisted var location: Location?
        @Persisted var gates: List<Location>
        @Persisted var half: Half?
        @Persisted var sister: City?
    }

    private static let places: [(String, Double, Double)] = [
        ("Berlin", 52.52, 13.405), ("Hamburg", 53.551, 9.994), ("Lisbon", 38.722, -9.139), ("Suva", -18.142, 178.441),
        ("Apia", -13.833, -171.767), ("McMurdo", -77.846, 166.676),
    ]

    private func cities() throws -> Results<City> {
        let realm = try makeRealm([City.self, Location.self, Half.self])
        try realm.write {
            for (name, latitude, longitude) in Self.places {
                let city = City(value: ["name": name])
                city.location = Location(latitude, longitude)
                city.gates.append(objectsIn: [Location(latitude, longitude), Location(0, 0)])
                realm.add(city)
            }
            let nowhere = realm.create(City.self, value: ["name": "Nowhere"])
            nowhere.sister = realm.object(ofType: City.self, forPrimaryKey: "Lisbon")
            let other = realm.create(City.self, value: ["name": "Area"])
            other.location = Location(52.52, 13.405)
            other.location?.type = "Polygon"
        }
        return realm.objects(City.self).sorted(by: \.name)
    }

    private func check<Shape: RLMGeospatial>(_ cities: Results<City>, _ shape: Shape?, _ names: [String]) throws {
        let shape = try #require(shape)
        #expect(cities.where { $0.location.geoWithin(shape) }.map(\.name) == names)
        #expect(cities.filter("location IN %@", shape).map(\.name) == names)
        #expect(cities.where { !$0.location.geoWithin(shape) }.count == cities.count - names.count)
    }

    @Test("boxes lie between latitudes and longitudes, edges included, and can cross the 180th meridian")
    func boxes() throws {
        let cities = try cities()
        try check(cities, GeoBox(bottomLeft: (50, 5), topRight: (55, 15)), ["Berlin", "Hamburg"])
        try check(cities, GeoBox(bottomLeft: (52.52, 13.405), topRight: (60, 20)), ["Berlin"])
        try check(cities, GeoBox(bottomLeft: (-20, 170), topRight: (-10, -170)), ["Apia", "Suva"])
        try check(
            cities, GeoBox(bottomLeft: (-90, -180), topRight: (90, 180)),
            ["Apia", "Berlin", "Hamburg", "Lisbon", "McMurdo", "Suva"])
    }

    @Test("circles have the given radius in every unit")
    func circles() throws {
        let cities = try cities()
        // Berlin and Hamburg are 255.3 kilometres apart on a sphere of this radius.
        for (inside, outside) in [
            (Distance.kilometers(256), Distance.kilometers(254)), (.miles(159.5), .miles(157.5)),
            (.degrees(2.31), .degrees(2.27)), (.radians(0.0402), .radians(0.0398)),
        ] {
            let (inside, outside) = (try #require(inside), try #require(outside))
            try check(cities, GeoCircle(center: (52.52, 13.405), radius: inside), ["Berlin", "Hamburg"])
            try check(cities, GeoCircle(center: (52.52, 13.405), radius: outside), ["Berlin"])
        }
        try check(cities, GeoCircle(center: (-16, -175), radiusInRadians: 0.2), ["Apia", "Suva"])
        try check(cities, GeoCircle(center: (-90, 0), radiusInRadians: 0.22), ["McMurdo"])
        try check(cities, GeoCircle(center: (52.52, 13.405), radiusInRadians: 0), ["Berlin"])
    }

    @Test("polygons have shortest lines for edges, holes, and the smaller side for an inside")
    func polygons() throws {
        let cities = try cities()
        let ring = [(50.0, 5.0), (50.0, 15.0), (55.0, 15.0), (55.0, 5.0), (50.0, 5.0)]
        let hole = [(53.0, 9.0), (54.0, 9.0), (54.0, 11.0), (53.0, 11.0), (53.0, 9.0)]
        try check(cities, GeoPolygon(outerRing: ring), ["Berlin", "Hamburg"])
        try check(cities, GeoPolygon(outerRing: ring.reversed()), ["Berlin", "Hamburg"])
        try check(cities, GeoPolygon(outerRing: [(52.52, 13.405), (52, 14), (53, 14), (52.52, 13.405)]), ["Berlin"])
        try check(cities, GeoPolygon(outerRing: ring, holes: hole), ["Berlin"])
        try check(cities, GeoPolygon(outerRing: ring, holes: [hole.reversed()]), ["Berlin"])
        let pacific = [(-25.0, 170.0), (-25.0, -165.0), (-5.0, -165.0), (-5.0, 170.0), (-25.0, 170.0)]
        try check(cities, GeoPolygon(outerRing: pacific), ["Apia", "Suva"])
        let pole = [(-60.0, 0.0), (-60.0, 120.0), (-60.0, -120.0), (-60.0, 0.0)]
        try check(cities, GeoPolygon(outerRing: pole), ["McMurdo"])
        // The shortest line between two places of one latitude runs closer to the pole.
        try check(
            cities, GeoPolygon(outerRing: [(52, -50), (52, 70), (30, 10), (52, -50)]), ["Berlin", "Hamburg"])
    }

    @Test("a polygon whose lines cross, or whose holes lie wrong, is an error")
    func invalidPolygons() throws {
        let cities = try cities()
        func square(_ low: Double, _ high: Double) -> [(Double, Double)] {
            [(low, low), (low, high), (high, high), (high, low), (low, low)]
        }
        let bow = [(0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0), (0.0, 0.0)]
        let shared = [(0.0, 0.0), (0.0, 20.0), (10.0, 10.0), (0.0, 0.0)]
        // Holes that meet the ring only at its corners, and reach outside of it without crossing a line.
        let beside = [(0.0, 0.0), (-10.0, 3.0), (-10.0, -3.0), (0.0, 0.0)]
        let leaving = [(0.0, 0.0), (-10.0, 10.0), (0.0, 20.0), (5.0, 10.0), (0.0, 0.0)]
        // A hole whose edge lies on an edge of the ring, and one that touches the ring in a point.
        let along = [(0.0, 5.0), (5.0, 5.0), (5.0, 9.0), (0.0, 9.0), (0.0, 5.0)]
        let touching = [(0.0, 0.0), (10.0, 5.0), (5.0, 10.0), (0.0, 0.0)]
        let wrong: [([(Double, Double)], [[(Double, Double)]], String)] = [
            (bow, [], "the outer ring crosses itself"),
            (square(0, 20), [square(5, 30)], "the outer ring crosses hole 1"),
            (square(0, 20), [shared], "the outer ring and hole 1 share a line"),
            (square(0, 20), [square(2, 4), square(30, 40)], "hole 2 is not inside of the outer ring"),
            (square(0, 20), [beside], "hole 1 is not inside of the outer ring"),
            (square(0, 20), [leaving], "hole 1 is not inside of the outer ring"),
            (square(0, 20), [along], "hole 1 is not inside of the outer ring"),
            (square(0, 20), [square(6, 8), square(5, 9)], "hole 1 is in hole 2"),
            (square(0, 20), [square(5, 9), square(6, 8)], "hole 2 is in hole 1"),
        ]
        for (ring, holes, message) in wrong {
            let polygon = try #require(GeoPolygon(outerRing: ring, holes: holes))
            let error = #expect(throws: Realm.Error.self) { try cities.tryFilter("location IN %@", polygon) }
            #expect(error?.message.contains(message) == true, "\(message): \(String(describing: error))")
        }
        try check(
            cities, GeoPolygon(outerRing: square(-1, 60), holes: [square(5, 9), square(10, 11)]), ["Berlin", "Hamburg"])
        try check(cities, GeoPolygon(outerRing: square(0, 60), holes: [touching]), ["Berlin", "Hamburg"])
    }

    @Test("places behind links and in collections")
    func behindLinks() throws {
        let cities = try cities()
        let box = try #require(GeoBox(bottomLeft: (30, -20), topRight: (45, 0)))
        #expect(cities.where { $0.sister.location.geoWithin(box) }.map(\.name) == ["Nowhere"])
        #expect(cities.where { $0.gates.geoWithin(box) }.map(\.name) == ["Lisbon"])
        #expect(cities.filter("NONE gates IN %@", box).count == cities.count - 1)
        #expect(cities.filter("ALL gates IN %@", box).map(\.name) == ["Area", "Nowhere"])
        let found = cities.where { $0.location.geoWithin(box) }
        try cities.realm?.write {
            cities[2].location?.coordinates[1] = 40
            cities[2].location?.coordinates[0] = -1
            #expect(found.map(\.name) == ["Berlin", "Lisbon"])
        }
    }

    @Test("a property that is no place is an error, and an invalid shape cannot be made")
    func noPlace() throws {
        let cities = try cities()
        let box = try #require(GeoBox(bottomLeft: (30, -20), topRight: (45, 0)))
        for format in ["half IN %@", "name IN %@", "sister IN %@", "location == %@", "gates.@count IN %@"] {
            let error = #expect(throws: Realm.Error.self, "\(format)") { try cities.tryFilter(format, box) }
            #expect(error?.code == .invalidInput, "\(format)")
        }
        #expect(GeoPoint(latitude: 90.1, longitude: 0) == nil && GeoPoint(latitude: 0, longitude: .nan) == nil)
        #expect(GeoPoint(latitude: 0, longitude: 180, altitude: -1) == nil)
        #expect(Distance.miles(-1) == nil && Distance.degrees(.nan) == nil)
        #expect(GeoCircle(center: (0, 0), radiusInRadians: -1) == nil)
        #expect(GeoPolygon(outerRing: [(0, 0), (1, 1), (0, 0)]) == nil)
        #expect(GeoPolygon(outerRing: [(0, 0), (1, 1), (2, 0), (3, 3)]) == nil)
        #expect(GeoBox(bottomLeft: (-91, 0), topRight: (0, 0)) == nil)
        let distance = try #require(Distance.kilometers(40_075))
        #expect(abs(distance.radians - 2 * .pi) < 1e-3 && abs(distance.asMiles() - 24_901) < 1)
        #expect(abs(distance.asDegrees() - 360) < 0.01 && distance.asKilometers() == 40_075)
    }
}
