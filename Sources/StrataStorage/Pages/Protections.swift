/// Versions that somebody still needs, and the dead extents that each keeps: an extent that was born in b and freed in
/// f hangs on the newest protected version v with b <= v < f.
///
/// Guarded by the allocator's lock.
struct Protections {
    private struct Protection {
        /// Pins and other protections.
        var count = 1
        var dead: [Extent] = []
    }

    private var protected = VersionMap<Protection>()
    private(set) var hangingPages = 0

    /// The oldest version that anything protects.
    var oldest: UInt64? { protected.versions.first }

    /// Dead extents that protected versions still need.
    var hanging: [Extent] { protected.values.flatMap(\.dead) }

    /// Protects a version once more.
    mutating func protect(_ version: UInt64) {
        let index = protected.index(of: version)
        if protected.holds(version, at: index) {
            protected.values[index].count += 1
        } else {
            protected.insert(Protection(), for: version, at: index)
        }
    }

    /// Takes one protection of a version away.
    /// - Returns: extents that hung on it alone: each is to be hung on another one, or is free.
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

    /// Hangs a dead extent on the newest version that reaches it.
    /// - Returns: false when none does: it is free.
    mutating func hang(_ extent: Extent) -> Bool {
        let index = protected.index(of: extent.freed) - 1
        guard index >= 0, protected.versions[index] >= extent.birth else { return false }
        protected.values[index].dead.append(extent)
        hangingPages += Int(extent.pages)
        if protected.count > 2 { mark(.heldByPin) }
        return true
    }
}
