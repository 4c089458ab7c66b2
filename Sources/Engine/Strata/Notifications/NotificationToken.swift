import Dispatch
import Synchronization

/// Keeps an observer alive. Releasing the token, or ``invalidate()``, ends the notifications; either may happen on any
/// thread, repeatedly, and inside the notification itself.
public final class NotificationToken: Sendable {
    private let state: Mutex<Held>

    private struct Held: @unchecked Sendable {  // the observer is used on its Realm's thread; here it is only released
        var observer: (any Observer)?
        var isActive = true
    }

    init(_ observer: (any Observer)?) {
        let held = Held(observer: observer)
        state = Mutex(held)
    }

    /// An empty token, to be replaced later.
    public convenience init() { self.init(nil) }

    /// - Returns: whether it held an observer until now.
    @discardableResult
    public func invalidate() -> Bool {
        let gone = state.withLock { state in
            let observer = state.observer
            state = Held(observer: nil, isActive: false)
            return Held(observer: observer)
        }
        gone.observer?.isActive.clear()
        return gone.observer != nil
    }

    deinit { invalidate() }

    /// Stores an observer that was made later, on its own queue; false if the token was invalidated before.
    func hold(_ observer: any Observer) -> Bool {
        let given = Held(observer: observer)
        return state.withLock { state in
            guard state.isActive else { return false }
            state = given
            return true
        }
    }

    var isActive: Bool { state.withLock { $0.isActive } }

    /// Whether this token holds `observer`.
    func holds(_ observer: any Observer) -> Bool { state.withLock { $0.observer === observer } }
}

/// A change of a collection.
///
/// Applying an update to the old elements - deletions from the back, then insertions from the front - gives the new
/// ones.
public enum RealmCollectionChange<CollectionType> {
    /// The first notification.
    case initial(CollectionType)
    /// Deletions and modifications as places before the change, insertions as places after it; each ascending.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    case error(any Error)
}

/// A change of an object.
public enum ObjectChange<T> {
    case change(T, [PropertyChange])
    /// The last notification.
    case deleted
    case error(any Error)
}

/// A property that changed.
public struct PropertyChange {
    public let name: String
    /// Before the change; nil for null.
    public let oldValue: Any?
    public let newValue: Any?
}

/// RealmSwift's name for a change of a projected property.
public typealias ProjectedPropertyChange = PropertyChange

extension Realm {
    /// Notifications of a Realm as a whole.
    public enum Notification: String, Sendable {
        /// The Realm shows another version.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version, and the Realm does not follow automatically.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }
}
