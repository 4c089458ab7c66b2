import Seeds

extension Seed {
    /// A seed for the part of a simulation that has this name.
    ///
    /// Not `derived(_:)` of a label, which names parts of a run by another hash: the histories that a simulation makes
    /// of a seed are written down as addresses of crash states, and never change.
    package func derived(part name: String) -> Seed {
        derived(ByteDigest.hash(name))
    }
}
