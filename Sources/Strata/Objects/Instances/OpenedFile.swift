import StrataStorage

/// The file of an instance, as it was opened. Instances of other versions of it are made with the same value.
struct OpenedFile {
    let store: Store
    /// Keeps the store open; nil for the two sides of a migration, which run while it is being opened.
    let shared: SharedStore?
    let configuration: RealmConfiguration

    /// Whether a version has the schema version that the file was opened with. After a migration by another process,
    /// a Realm stays at the last version before it.
    func hasOwnSchema(_ view: ReadView) -> Bool {
        #if Zoo
            if PlantedMistake.oldSchemaWrites.isPlanted { return true }
        #endif
        return view.schema.userVersion == configuration.schemaVersion
    }
}
