import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
/// A store without a Realm that could not be closed, for instance on a full disk: its memory is the only place of its
/// newest commits. It stays open until the file is opened again in this process; that open closes it first.
struct UnclosedStore {
    let store: Store
    let encryptionKey: Data?

    /// The store, for an open of the file while it still cannot be closed.
    /// - Throws: `alreadyOpen` if the configuration asks for options that an open store cannot adopt.
    func join(_ configuration: RealmConfiguration) throws -> Store {
        guard !configuration.readOnly, encryptionKey == configuration.encryptionKey else {
            throw RealmError(
                .alreadyOpen,
                "\(configuration.path) could not be closed yet and has commits that are on no disk; free some space, "
                    + "or open it with the readOnly and encryptionKey that it had")
        }
        try SchemaSetup.join(store, configuration)
        return store
    }

    /// The error for a failed close; it says what that means for commits.
    /// - Parameter isKept: whether the store stays open.
    static func failure(of store: Store, _ error: StorageError, isKept: Bool) -> RealmError {
        let cause = RealmError(error)
        let meaning =
            isKept
            ? "its newest commits are only in memory: after the cause is removed, open the file again in this "
                + "process, and release it"
            : store.options.durability == .full
                ? "its commits are in the log, and the next open replays them"
                : "its last commits may be lost"
        return RealmError(cause.code, "closing \(store.path): \(cause.message); \(meaning)")
    }
}
