import StrataStorage

/// The open file of an instance, and the configuration with which the program opened it. A live instance passes the
/// value on to its frozen twins; the two sides of a migration share one.
struct OpenedFile {
    let store: Store
    /// Closes the store when the last instance releases it; nil for the two sides of a migration, which runs before the
    /// open returns.
    let shared: SharedStore?
    let configuration: RealmConfiguration
}
