import Platform

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A direction from the centre of the earth: a vector of length 1.
struct SpherePoint: Equatable {
    let x: Double
    let y: Double
    let z: Double

    init(latitude: Double, longitude: Double) {
        let phi = latitude * .pi / 180
        let lambda = longitude * .pi / 180
        x = cos(phi) * cos(lambda)
        y = cos(phi) * sin(lambda)
        z = sin(phi)
    }

    private init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    func dot(_ other: SpherePoint) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: SpherePoint) -> SpherePoint {
        SpherePoint(
            x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    /// The middle of the arc to another point.
    func middle(to other: SpherePoint) -> SpherePoint {
        let sum = SpherePoint(x: x + other.x, y: y + other.y, z: z + other.z)
        let length = sum.dot(sum).squareRoot()
        return SpherePoint(x: sum.x / length, y: sum.y / length, z: sum.z / length)
    }

    /// The angle between two, by the arc tangent: arc sine and cosine are inexact for angles near zero or a half turn.
    func distance(to other: SpherePoint) -> Double {
        let normal = cross(other)
        return atan2(normal.dot(normal).squareRoot(), dot(other))
    }

    /// The angle from the direction of `a` to that of `b`, seen from this point, positive to the left.
    func turn(from a: SpherePoint, to b: SpherePoint) -> Double {
        // Both directions in the tangent plane at this point.
        let (first, second) = (cross(a), cross(b))
        return atan2(dot(first.cross(second)), first.dot(second))
    }
}

/// A closed line of arcs on the sphere, with its inside on the left.
struct SphereRing {
    let points: [SpherePoint]

    /// - Parameter points: the last is the first.
    init(_ points: [GeoPoint]) {
        let points = points.dropLast().map { SpherePoint(latitude: $0.latitude, longitude: $0.longitude) }
        self.points = Self.area(points) < 0 ? points.reversed() : points
    }

    /// The area on the left of the ring; negative if the area on the right is smaller.
    ///
    /// It is the sum of the signed triangles of all edges with the first point.
    private static func area(_ points: [SpherePoint]) -> Double {
        var area = 0.0
        for place in 1..<max(points.count - 1, 1) {
            let (a, b, c) = (points[0], points[place], points[place + 1])
            let volume = a.dot(b.cross(c))
            area += 2 * atan2(volume, 1 + a.dot(b) + b.dot(c) + c.dot(a))
        }
        // More than half of the earth on one side is less than half on the other.
        return remainder(area, 4 * .pi)
    }

    /// Whether the ring winds once around the point, to the left.
    /// - Complexity: O(points).
    func contains(_ point: SpherePoint) -> Bool {
        var turned = 0.0
        var before = points[points.count - 1]
        for next in points {
            // A corner is inside; it has no direction as seen from itself.
            if next == point { return true }
            turned += point.turn(from: before, to: next)
            before = next
        }
        return turned > .pi
    }

    /// Whether another ring, whose lines cross none of this one, is inside and shares no part of a line with it.
    ///
    /// Its corners may lie on this ring. Between two such corners a line may run outside without crossing this ring, so
    /// the middles of the lines are tested too.
    /// - Complexity: O(points of this ring times points of the other).
    func surrounds(_ other: SphereRing) -> Bool {
        let corners = other.points
        return corners.indices.allSatisfy { place in
            let middle = corners[place].middle(to: corners[(place + 1) % corners.count])
            return (contains(corners[place]) || hasOnLine(corners[place])) && contains(middle) && !hasOnLine(middle)
        }
    }

    /// Whether a point lies on the line of the ring, with a tolerance of some micrometres on the earth.
    private func hasOnLine(_ point: SpherePoint) -> Bool {
        points.indices.contains { place in
            let (from, to) = (points[place], points[(place + 1) % points.count])
            let normal = from.cross(to)
            let height = abs(normal.dot(point))
            guard height <= 1e-12 * normal.dot(normal).squareRoot() else { return false }
            return from.cross(point).dot(normal) >= 0 && point.cross(to).dot(normal) >= 0
        }
    }
}
