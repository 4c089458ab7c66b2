/// Protected versions, and the dead extents that each keeps: an extent born in b and freed in f is attached to the
/// newest protected version v with b <= v < f.
///
/// A part of ``AllocatorState``.
struct Protections {
    private struct Protection {
        /// How many pins and other uses protect the version.
        var count = 1
        var dead: [Extent] = []
    }

    private var protected = VersionMap<Protection>()
    private(set) var hangingPages = 0

    /// The oldest protected version.
    var oldest: UInt64? { protected.versions.first }

    /// Dead extents that protected versions still need.
    var hanging: [Extent] { protected.values.flatMap(\.dead) }

    /// Adds a protection of a version.
    mutating func protect(_ version: UInt64) {
        let index = protected.index(of: version)
        if protected.holds(version, at: index) {
            protected.values[index].count += 1
        } else {
            protected.insert(Protection(), for: version, at: index)
        }
    }

    /// Ends one protection of a version.
    /// - Returns: extents that were attached to it: each goes to another version, or is free.
    mutating func unprotect(_ version: UInt64) -> [Extent] {
        let index = protected.index(of: version)
        guard protected.holds(version, at: index) else { return [] }
        if protected.values[index].count > 1 {
            protected.values[index].count -= 1
            return []
        }
        let dead = protected.remove(at: index).dead
        for extent in dead { hangingPages -= Int(extent.pages) }
        return dead
    }

    /// Attaches a dead extent to the newest version that reaches it.
    /// - Returns: false if none does: the extent is free.
    mutating func hang(_ extent: Extent) -> Bool {
        let index = protected.index(of: extent.freed) - 1
        guard index >= 0, protected.versions[index] >= extent.birth else { return false }
        protected.values[index].dead.append(extent)
        hangingPages += Int(extent.pages)
        if protected.count > 2 { mark(.heldByPin) }
        return true
    }
}
