/// An isolation that is broken in one way on purpose, by the model engine of a build with the trait Zoo: so that a
/// checker of histories which would believe anything is found out.
package enum IsolationMistake: String, Sendable, CaseIterable {
    /// Writers take no lock, and what they write is there at once.
    case dirtyWrite = "model-dirty-write"
    /// What a transaction wrote stays when it is rolled back.
    case abortedRead = "model-aborted-read"
    /// Readers see what a writer has written so far.
    case intermediateRead = "model-intermediate-read"
    /// Everybody sees what anybody has written so far; only what another has written cannot be written over.
    case cyclicFlow = "model-cyclic-flow"
    /// Each works on a state of its own, and the last one to commit is right.
    case lostUpdate = "model-lost-update"
    /// Each works on a state of its own, and fails only where another wrote the same cell.
    case writeSkew = "model-write-skew"
    /// Readers see one half of the cells as they are and the other half as they were, and not all the same half.
    case longFork = "model-long-fork"
}
