import Seeds

extension Seed {
    /// A seed for the part of a simulation with this name.
    ///
    /// Separate from `derived(_:)`, which hashes labels of parts of a run in another way: addresses of crash states
    /// refer to the scripts that a simulation derives from a seed, so this hash never changes.
    package func derived(part name: String) -> Seed {
        derived(ByteDigest.hash(name))
    }
}
