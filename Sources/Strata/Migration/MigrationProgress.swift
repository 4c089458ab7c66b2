/// How far a migration is, told by `Configuration.migrationProgress` while objects are walked.
public struct MigrationProgress: Sendable, Equatable {
    /// The version that the running block or step leads to.
    public let schemaVersion: UInt64
    /// The class that is being walked, or whose values are being carried over.
    public let className: String
    public let objectsDone: Int
    public let objectsTotal: Int

    /// From 0 to 1, of the class that is being walked.
    public var fraction: Double { objectsTotal == 0 ? 1 : Double(objectsDone) / Double(objectsTotal) }
}
