/// A defect of isolation that the model engine of a build with the trait Zoo makes on purpose, to test the checker of
/// histories.
package enum IsolationMistake: String, Sendable, CaseIterable {
    /// Writers take no lock, and their writes are visible at once.
    case dirtyWrite = "model-dirty-write"
    /// Writes of a transaction stay after its rollback.
    case abortedRead = "model-aborted-read"
    /// Readers see the uncommitted writes of a writer.
    case intermediateRead = "model-intermediate-read"
    /// All transactions see all uncommitted writes; only a write to a cell that another transaction has written is
    /// prevented.
    case cyclicFlow = "model-cyclic-flow"
    /// Each transaction works on a snapshot, and the last one to commit wins.
    case lostUpdate = "model-lost-update"
    /// Each transaction works on a snapshot, and fails only if another one wrote the same cell.
    case writeSkew = "model-write-skew"
    /// Readers see the newest values of one half of the cells and earlier values of the other half. Which half is
    /// outdated differs between readers.
    case longFork = "model-long-fork"
}
