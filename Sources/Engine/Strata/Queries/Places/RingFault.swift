/// Why the rings of a polygon do not bound an area: lines that cross or that two rings share, and holes that are not
/// inside the outer ring, or in another hole.
///
/// - Complexity: O(points²), once per query.
struct RingFault: Sendable {
    let reason: String

    private struct Edge {
        let ring: Int
        let from: SpherePoint
        let to: SpherePoint

        func shares(_ point: SpherePoint) -> Bool { from == point || to == point }

        func joins(_ other: Edge) -> Bool { shares(other.from) || shares(other.to) }

        func isSame(as other: Edge) -> Bool { shares(other.from) && shares(other.to) }

        /// Whether two arcs meet in a point that is the end of neither.
        func crosses(_ other: Edge) -> Bool {
            let normal = from.cross(to)
            let before = -normal.dot(other.from)
            let behind = normal.dot(other.to)
            guard before * behind > 0 else { return false }
            let otherNormal = other.from.cross(other.to)
            return before * -otherNormal.dot(to) > 0 && before * otherNormal.dot(from) > 0
        }

        var name: String { ring == 0 ? "the outer ring" : "hole \(ring)" }
    }

    /// - Parameter rings: the outer one first.
    /// - Returns: nil if the rings are valid.
    init?(_ rings: [SphereRing]) {
        guard let reason = Self.fault(of: rings) else { return nil }
        self.reason = reason
    }

    private static func fault(of rings: [SphereRing]) -> String? {
        let edges = rings.enumerated().flatMap { ring, line in
            line.points.indices.map { place in
                Edge(ring: ring, from: line.points[place], to: line.points[(place + 1) % line.points.count])
            }
        }
        for (place, edge) in edges.enumerated() {
            for other in edges[(place + 1)...] {
                if edge.ring != other.ring, edge.isSame(as: other) {
                    return "\(edge.name) and \(other.name) share a line"
                }
                if !edge.joins(other), edge.crosses(other) {
                    return "\(edge.name) crosses \(edge.ring == other.ring ? "itself" : other.name)"
                }
            }
        }
        for (place, hole) in rings.enumerated().dropFirst() {
            if !rings[0].surrounds(hole) { return "hole \(place) is not inside of the outer ring" }
            for (other, larger) in rings.enumerated().dropFirst() where other != place {
                if hole.points.allSatisfy({ larger.contains($0) }) { return "hole \(place) is in hole \(other)" }
            }
        }
        return nil
    }
}
