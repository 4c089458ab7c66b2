/// A shape on the earth that a query searches for points: ``GeoBox``, ``GeoCircle``, ``GeoPolygon``.
public protocol RLMGeospatial: Sendable {
    /// For the library's own use.
    var _shape: _GeoShape { get }
}

/// A place on the earth, in degrees.
///
/// Shapes are made of it. A Realm stores a place as an embedded object in the form of a GeoJSON point: a text `type`,
/// which is `Point`, and a list `coordinates` of longitude and latitude, in this order.
///
///     final class Location: EmbeddedObject {
///         @Persisted var type = "Point"
///         @Persisted var coordinates: List<Double>
///     }
public struct GeoPoint: Hashable, Sendable {
    public let latitude: Double
    public let longitude: Double
    /// In metres. Queries ignore it.
    public let altitude: Double

    /// - Parameters:
    ///   - latitude: from -90 to 90.
    ///   - longitude: from -180 to 180.
    /// - Returns: nil for numbers out of range, and for a negative altitude.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude), altitude >= 0 else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
    }
}

/// A length on the surface of the earth.
public struct Distance: Hashable, Sendable {
    /// As an angle at the centre of the earth.
    public let radians: Double

    /// In metres, at the equator.
    private static let earthRadius = 6_378_100.0
    private static let metersOfMile = 1609.344

    private init?(_ radians: Double) {
        guard radians >= 0 else { return nil }
        self.radians = radians
    }

    /// Nil for a negative number, as with every unit.
    public static func radians(_ radians: Double) -> Distance? { Distance(radians) }
    public static func degrees(_ degrees: Double) -> Distance? { Distance(degrees * .pi / 180) }
    public static func kilometers(_ kilometers: Double) -> Distance? { Distance(kilometers * 1000 / earthRadius) }
    public static func miles(_ miles: Double) -> Distance? { Distance(miles * metersOfMile / earthRadius) }

    public func asDegrees() -> Double { radians * 180 / .pi }
    public func asKilometers() -> Double { radians * Self.earthRadius / 1000 }
    public func asMiles() -> Double { radians * Self.earthRadius / Self.metersOfMile }
}

/// The area between two latitudes and two longitudes, its edges included.
public struct GeoBox: RLMGeospatial, Hashable {
    public let bottomLeft: GeoPoint
    public let topRight: GeoPoint

    /// A box whose left side is east of its right side crosses the 180th meridian.
    public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
        self.bottomLeft = bottomLeft
        self.topRight = topRight
    }

    /// - Returns: nil for corners, latitude and longitude each, that are not a valid ``GeoPoint``.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let bottomLeft = GeoPoint(latitude: bottomLeft.0, longitude: bottomLeft.1),
            let topRight = GeoPoint(latitude: topRight.0, longitude: topRight.1)
        else { return nil }
        self.init(bottomLeft: bottomLeft, topRight: topRight)
    }

    public var _shape: _GeoShape { _GeoShape(.box(self)) }
}

/// The area within a distance of a point, its edge included.
public struct GeoCircle: RLMGeospatial, Hashable {
    public let center: GeoPoint
    public let radiusInRadians: Double

    /// - Returns: nil for a negative radius.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0 else { return nil }
        self.center = center
        self.radiusInRadians = radiusInRadians
    }

    public init(center: GeoPoint, radius: Distance) {
        self.center = center
        radiusInRadians = radius.radians
    }

    /// - Returns: nil for a negative radius, and for a latitude and longitude that are not a valid ``GeoPoint``.
    public init?(center: (Double, Double), radiusInRadians: Double) {
        guard let center = GeoPoint(latitude: center.0, longitude: center.1) else { return nil }
        self.init(center: center, radiusInRadians: radiusInRadians)
    }

    public init?(center: (Double, Double), radius: Distance) {
        guard let center = GeoPoint(latitude: center.0, longitude: center.1) else { return nil }
        self.init(center: center, radius: radius)
    }

    public var _shape: _GeoShape { _GeoShape(.circle(self)) }
}

/// The inside of a ring of shortest lines between points, without its holes.
///
/// A ring has at least four points, and its last point is its first. A ring divides the earth into two parts; its
/// inside is the smaller one, whatever the direction of the points. Lines must not cross, and no hole may be outside of
/// the ring or in another hole: a query with such a polygon is an error.
public struct GeoPolygon: RLMGeospatial, Hashable {
    public let outerRing: [GeoPoint]
    public let holes: [[GeoPoint]]

    /// - Returns: nil for a ring or a hole that is not closed, or has too few points.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
        guard ([outerRing] + holes).allSatisfy({ $0.count >= 4 && $0.first == $0.last }) else { return nil }
        self.outerRing = outerRing
        self.holes = holes
    }

    public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) { self.init(outerRing: outerRing, holes: holes) }

    /// From latitudes and longitudes.
    public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
        var rings: [[GeoPoint]] = []
        for ring in [outerRing] + holes {
            let points = ring.compactMap { GeoPoint(latitude: $0.0, longitude: $0.1) }
            guard points.count == ring.count else { return nil }
            rings.append(points)
        }
        self.init(outerRing: rings[0], holes: Array(rings.dropFirst()))
    }

    public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
        self.init(outerRing: outerRing, holes: holes)
    }

    public var _shape: _GeoShape { _GeoShape(.polygon(self)) }
}

// MARK: Looking for points

/// A shape prepared for the search. For the library's own use.
public struct _GeoShape: Sendable {
    enum Kind {
        case box(GeoBox)
        case circle(GeoCircle)
        case polygon(GeoPolygon)
    }

    private enum Region {
        case box(GeoBox)
        case circle(center: SpherePoint, radius: Double)
        /// The inside of the first ring without the insides of the others.
        case rings([SphereRing])
    }

    private let region: Region
    /// Why a polygon is invalid; a query with it is refused.
    let fault: RingFault?

    init(_ kind: Kind) {
        var fault: RingFault?
        switch kind {
        case .box(let box): region = .box(box)
        case .circle(let circle):
            region = .circle(
                center: SpherePoint(latitude: circle.center.latitude, longitude: circle.center.longitude),
                radius: circle.radiusInRadians)
        case .polygon(let polygon):
            let rings = ([polygon.outerRing] + polygon.holes).map { SphereRing($0) }
            region = .rings(rings)
            fault = RingFault(rings)
        }
        self.fault = fault
    }

    /// - Parameter coordinates: longitude and latitude; further numbers are ignored.
    /// - Returns: false for coordinates that are not a place on the earth.
    func contains(_ coordinates: [Double]) -> Bool {
        guard coordinates.count >= 2,
            let place = GeoPoint(latitude: coordinates[1], longitude: coordinates[0])
        else { return false }
        switch region {
        case .box(let box):
            guard (box.bottomLeft.latitude...).contains(place.latitude), place.latitude <= box.topRight.latitude else {
                return false
            }
            let (west, east) = (box.bottomLeft.longitude, box.topRight.longitude)
            return west <= east
                ? west <= place.longitude && place.longitude <= east
                : place.longitude >= west || place.longitude <= east
        case .circle(let center, let radius):
            return center.distance(to: SpherePoint(latitude: place.latitude, longitude: place.longitude)) <= radius
        case .rings(let rings):
            let point = SpherePoint(latitude: place.latitude, longitude: place.longitude)
            return rings[0].contains(point) && !rings.dropFirst().contains { $0.contains(point) }
        }
    }
}

extension _GeoShape: CustomStringConvertible {
    public var description: String {
        switch region {
        case .box: return "<a box on the earth>"
        case .circle: return "<a circle on the earth>"
        case .rings: return "<a polygon on the earth>"
        }
    }
}
