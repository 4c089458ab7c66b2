/// A migration in steps, one per version of the schema.
///
///     let plan = MigrationPlan([
///         MigrationStep(to: 1, "one name", classes: [V1.Person.self]) { migration in ... },
///         MigrationStep(to: 2, "a required age", classes: [V2.Person.self]) { migration in ... },
///         MigrationStep(to: 3) { migration in ... },
///     ])
///     let configuration = Realm.Configuration(schemaVersion: 3, migrationPlan: plan)
///
/// A file runs the steps that it has not had, in order, each from the schema of the previous step to its own. So a file
/// that skipped versions runs the same steps on the same schemas as one that took each, with equal results. Only the
/// last step uses the program's classes.
///
/// All steps succeed, or the file is unchanged. Several steps run on a copy beside the file, `NAME.migrating`, which
/// replaces the file after the last one: this needs the file's space once more, and exclusive use of the file. A single
/// step is a transaction in the file itself.
public struct MigrationPlan: Sendable {
    /// In ascending order of their versions.
    public let steps: [MigrationStep]

    /// Stops the program if two steps lead to the same version.
    public init(_ steps: [MigrationStep]) {
        self.steps = steps.sorted { $0.schemaVersion < $1.schemaVersion }
        for (step, next) in zip(self.steps, self.steps.dropFirst()) where step.schemaVersion == next.schemaVersion {
            fatalError("two steps of a MigrationPlan lead to version \(step.schemaVersion)")
        }
    }

    /// The version of the last step.
    public var newestVersion: UInt64 { steps.last?.schemaVersion ?? 0 }

    /// The steps that a file of this version has not had.
    public func steps(after version: UInt64) -> [MigrationStep] { steps.filter { $0.schemaVersion > version } }

    /// The step to a version, for a test of its own.
    public func step(to version: UInt64) -> MigrationStep? { steps.first { $0.schemaVersion == version } }
}

/// One step of a ``MigrationPlan``: the classes of its version, and the conversion of the data.
public struct MigrationStep: Sendable {
    /// The version after the step.
    public let schemaVersion: UInt64
    /// Description for reports.
    public let summary: String
    /// The classes of its version, with their names in the file; nil for the last step, which leads to the program's.
    public let classes: [ObjectBase.Type]?
    let block: @Sendable (Migration) throws -> Void

    /// - Parameters:
    ///   - classes: as declared in this version, in a scope of their own, with ``ObjectBase/className()`` returning the
    ///     name in the file. Required in all steps except the last.
    ///   - block: may be omitted if properties are only added, removed or reordered.
    public init(
        to schemaVersion: UInt64, _ summary: String = "", classes: [ObjectBase.Type]? = nil,
        _ block: @escaping @Sendable (Migration) throws -> Void = { _ in }
    ) {
        self.schemaVersion = schemaVersion
        self.summary = summary
        self.classes = classes
        self.block = block
    }

    /// Runs only this step, on a file of any older version, for tests.
    ///
    ///     try plan.step(to: 2)?.run(on: configuration)
    /// - Parameter configuration: names the file; its classes are replaced by the step's own.
    /// - Throws: ``Realm/Error``, or the error of the block; the file is unchanged then.
    public func run(on configuration: RealmConfiguration) throws {
        var configuration = configuration
        configuration.schemaVersion = schemaVersion
        configuration.migrationBlock = nil
        configuration.migrationPlan = MigrationPlan([self])
        configuration.objectTypes = classes ?? configuration.objectTypes
        try Realm.performMigration(for: configuration)
    }
}

extension RealmConfiguration {
    /// The plan's steps for a file of this version, or the block as the only step.
    /// - Throws: `invalidInput` for a plan that does not fit the configuration.
    func migrationSteps(from version: UInt64) throws(RealmError) -> [MigrationStep] {
        guard let plan = migrationPlan else {
            let block = migrationBlock
            return [MigrationStep(to: schemaVersion) { try block?($0, version) }]
        }
        if migrationBlock != nil {
            throw RealmError(.invalidInput, "a configuration has a migrationBlock or a migrationPlan, not both")
        }
        if plan.newestVersion != schemaVersion {
            throw RealmError(
                .invalidInput,
                "the migrationPlan ends at version \(plan.newestVersion), schemaVersion is \(schemaVersion); make them "
                    + "the same")
        }
        let steps = plan.steps(after: version)
        for step in steps.dropLast() where step.classes == nil {
            throw RealmError(
                .invalidInput,
                "the step to version \(step.schemaVersion) has no classes; only the last step of a plan may leave them "
                    + "out")
        }
        #if Zoo
            if PlantedMistake.versionSkipped.isPlanted, steps.count > 1 { return Array(steps.dropFirst()) }
        #endif
        return steps
    }
}
