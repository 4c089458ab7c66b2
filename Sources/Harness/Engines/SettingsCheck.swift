import RunRecords

/// A setting that the engine says it has, and that is not what the report says of it.
package struct SettingDifference: Hashable, Sendable, CustomStringConvertible {
    package var name: String
    package var stated: String
    package var observed: String

    package var description: String { "\(name) is \(observed), not \(stated)" }
}

/// Compares what an adapter says it sets with what the open database answers.
///
/// A figure stands under the class of its durability. Where the database is in another one, the figure belongs to no
/// class, and its case is inconclusive.
package enum SettingsCheck {
    /// The settings of the session's answer that differ from the stated ones, in the order of the answer.
    ///
    /// A setting that is stated and not observed is no difference: many cannot be asked for. One that is observed and
    /// not stated is a difference, as the check would compare nothing where a name is misspelt.
    package static func differences(
        stated: [EngineSetting], observed: [EngineSetting]
    ) -> [SettingDifference] {
        observed.compactMap { found in
            let wanted = stated.first { $0.name == found.name }?.value ?? "stated"
            return wanted == found.value
                ? nil : SettingDifference(name: found.name, stated: wanted, observed: found.value)
        }
    }

    /// The same of an open session; nil where the engine answers no questions about its settings.
    package static func differences(
        _ session: any Session, stated settings: EngineSettings
    ) throws(EngineError) -> [SettingDifference]? {
        guard let session = session as? any SettingsSession else { return nil }
        return differences(stated: settings.list, observed: try session.observedSettings())
    }

    /// The same of a database that is made for it, with tables and without a row, in an empty directory: what every
    /// other database of this process gets.
    package static func differences(
        _ engine: any Engine, _ durability: DurabilityClass, tables: TableSet, at location: DatabaseLocation
    ) throws(EngineError) -> [SettingDifference]? {
        let settings = engine.settings(for: durability)
        let session = try engine.open(location, settings: settings)
        if let tabular = session as? any TableSession { try tabular.create(tables) }
        let found = try differences(session, stated: settings)
        try session.close()
        return found
    }
}
