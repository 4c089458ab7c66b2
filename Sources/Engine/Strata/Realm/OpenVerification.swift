import Dispatch
import StrataStorage

/// Verifies a file when it is opened, beyond the pages that the open itself reads.
struct OpenVerification {
    private let store: Store
    private let configuration: RealmConfiguration

    init(_ store: Store, _ configuration: RealmConfiguration) {
        self.store = store
        self.configuration = configuration
    }

    /// Whether the configuration asks for it: by `verification`, or by a policy for damage that repairs.
    private var isWanted: Bool {
        configuration.inMemoryIdentifier == nil
            && (configuration.verification == .atOpen || configuration.onDamage != .fail && !configuration.readOnly)
    }

    private var isSmall: Bool { StoreVerification(of: store).contentBytes <= configuration.verificationLimit }

    /// Verifies a file that is small enough. If a policy repairs, damage that an earlier process found counts, too.
    /// - Returns: why the file is to be repaired or refused; nil for a file without known damage.
    func failure() throws(StorageError) -> StorageError? {
        guard isWanted else { return nil }
        let known = store.damage.places.first { !$0.isAcknowledged }?.place
        if configuration.onDamage != .fail, let known {
            return .corrupt(page: known.page, offset: 0, reason: known.reason)
        }
        guard isSmall, let found = try StoreVerification(of: store).survey().first else { return nil }
        return .corrupt(page: found.page, offset: 0, reason: found.reason)
    }

    /// Verifies a larger file in the background; stops when the file's last Realm in this process was released.
    static func begin(_ shared: SharedStore, _ configuration: RealmConfiguration) {
        let verification = OpenVerification(shared.store, configuration)
        guard verification.isWanted, !verification.isSmall else { return }
        DispatchQueue.global(qos: .utility).async { [weak shared] in
            guard let store = shared?.store else { return }
            do throws(StorageError) {
                let places = try StoreVerification(of: store).survey { _ in shared != nil }
                let schema = try store.snapshot().view.schema
                store.damage.note(places)
                for place in store.damage.takeUntold() {
                    configuration.tell(
                        .damage(Realm.Damage(place, schema, configuration.path, isAcknowledged: false)))
                }
            } catch {
                // The store was closed meanwhile, or memory is short: each page is still verified when it is read.
            }
        }
    }
}
