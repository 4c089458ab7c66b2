/// Progress of a migration, passed to `Configuration.migrationProgress` during an enumeration.
public struct MigrationProgress: Sendable, Equatable {
    /// The version after the running block or step.
    public let schemaVersion: UInt64
    /// The class that is being enumerated or copied.
    public let className: String
    public let objectsDone: Int
    public let objectsTotal: Int

    /// From 0 to 1, for the present class.
    public var fraction: Double { objectsTotal == 0 ? 1 : Double(objectsDone) / Double(objectsTotal) }
}
