import StrataStorage

/// The open file of an instance, and the configuration with which the program opened it. A live instance shares it
/// with its frozen twins; so do the two sides of a migration.
///
/// A class: every write reads parts of it, and of a value the compiler would copy all of them each time.
final class OpenedFile: Sendable {
    let store: Store
    /// Closes the store when the last instance releases it; nil for the two sides of a migration, which runs before the
    /// open returns.
    let shared: SharedStore?
    let configuration: RealmConfiguration

    init(store: Store, shared: SharedStore?, configuration: RealmConfiguration) {
        self.store = store
        self.shared = shared
        self.configuration = configuration
    }

    /// Whether a version has the schema version of the configuration. After another process has migrated the file, a
    /// Realm keeps showing the last version before the migration.
    func hasOwnSchema(_ view: ReadView) -> Bool {
        #if Zoo
            if PlantedMistake.oldSchemaWrites.isPlanted { return true }
        #endif
        return view.schema.userVersion == configuration.schemaVersion
    }
}
