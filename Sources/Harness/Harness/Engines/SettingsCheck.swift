import RunRecords

/// A setting whose value in the engine differs from the one in the report.
package struct SettingDifference: Hashable, Sendable, CustomStringConvertible {
    package var name: String
    package var stated: String
    package var observed: String

    package var description: String { "\(name) is \(observed), not \(stated)" }
}

/// Compares the settings that an adapter states with those that the open database reports.
///
/// A figure is listed under its durability class. If the database is in another class, the figure belongs to none, and
/// its case is inconclusive.
package enum SettingsCheck {
    /// The reported settings of the session that differ from the stated ones, in the order of the session's answer.
    ///
    /// A setting that is stated and not reported is no difference: many settings cannot be queried. One that is
    /// reported and not stated is a difference: otherwise a misspelt name would be compared with nothing.
    package static func differences(
        stated: [EngineSetting], observed: [EngineSetting]
    ) -> [SettingDifference] {
        observed.compactMap { found in
            let wanted = stated.first { $0.name == found.name }?.value ?? "stated"
            return wanted == found.value
                ? nil : SettingDifference(name: found.name, stated: wanted, observed: found.value)
        }
    }

    /// The differences of an open session; nil if the engine does not report its settings.
    package static func differences(
        _ session: any Session, stated settings: EngineSettings
    ) throws(EngineError) -> [SettingDifference]? {
        guard let session = session as? any SettingsSession else { return nil }
        return differences(stated: settings.list, observed: try session.observedSettings())
    }

    /// The differences of a database that is created for this check, with tables and without rows, in an empty
    /// directory: it gets the settings that every other database of this process gets.
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
