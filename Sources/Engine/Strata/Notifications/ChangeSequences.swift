import Dispatch

/// An asynchronous sequence of changes: first the present state, then each change since the previous element.
///
/// All commits between two calls of `next()` form one change. Elements are frozen; they may be kept, and `thaw()`
/// returns the live value. The sequence ends when its task is cancelled, and after a change that can be the last only,
/// such as a deletion. While it is iterated, it keeps the file open and pins one version.
public struct Changes<Element>: AsyncSequence, Sendable {
    public typealias Failure = Never

    /// May be called on any thread: it reads nothing that a Realm's thread changes.
    private let start: Carried<() -> ChangePuller<Element>>

    init(_ start: @escaping () -> ChangePuller<Element>) { self.start = Carried(value: start) }

    public func makeAsyncIterator() -> Iterator { Iterator(puller: start.value()) }

    public struct Iterator: AsyncIteratorProtocol {
        let puller: ChangePuller<Element>

        public mutating func next() async -> Element? { await puller.next() }
        public mutating func next(isolation: isolated (any Actor)?) async -> Element? { await puller.next() }
    }
}

/// Follows changes with a Realm instance and a queue of its own, at the pace of the consumer.
final class ChangePuller<Element>: @unchecked Sendable {  // everything but the queue is used on the queue only
    private let queue = DispatchQueue(label: "strata.changes")
    private let open: (DispatchQueue) throws -> RealmInstance
    private let observe: (RealmInstance, ChangePuller) -> NotificationToken
    private let failed: (any Error) -> Element?
    private var instance: RealmInstance?
    private var token: NotificationToken?
    private var ready: [Element] = []
    private var waiting: CheckedContinuation<Carried<Element>?, Never>?
    private var isFinished = false

    /// - Parameters:
    ///   - observe: starts the observer, which calls ``tell(_:isLast:)``.
    ///   - failed: makes the element for a Realm that cannot be opened.
    init(
        _ source: RealmInstance, failed: @escaping (any Error) -> Element?,
        _ observe: @escaping (RealmInstance, ChangePuller) -> NotificationToken
    ) {
        let configuration = source.file.configuration
        let shared = source.file.shared
        open = { queue in
            guard let shared else { throw RealmError(.wrongState, "a migration cannot be observed") }
            return try InstanceCache.unshared(configuration, shared, .queue(queue))
        }
        self.observe = observe
        self.failed = failed
    }

    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { self.pull(continuation) }
            }
        } onCancel: {
            queue.async { self.finish() }
        }?.value
    }

    private func pull(_ continuation: CheckedContinuation<Carried<Element>?, Never>) {
        if token == nil && !isFinished { begin() }
        if !ready.isEmpty { return continuation.resume(returning: Carried(value: ready.removeFirst())) }
        if isFinished { return continuation.resume(returning: nil) }
        waiting = continuation
        instance?.refresh()
    }

    private func begin() {
        do {
            let instance = try open(queue)
            self.instance = instance
            // Refreshes only while the consumer waits, so that all changes until its next call are merged.
            instance.observation.onWake = { [weak self] in
                guard let self, self.waiting != nil else { return }
                self.instance?.refresh()
            }
            token = observe(instance, self)
        } catch {
            failed(error).map { ready.append($0) }
            isFinished = true
        }
    }

    func tell(_ element: Element, isLast: Bool = false) {
        if let continuation = waiting {
            waiting = nil
            continuation.resume(returning: Carried(value: element))
        } else {
            ready.append(element)
        }
        if isLast { isFinished = true }
    }

    private func finish() {
        isFinished = true
        token?.invalidate()
        ready = []
        waiting?.resume(returning: nil)
        waiting = nil
    }
}

extension RealmCollection {
    /// A sequence that delivers the collection, then each of its changes; see `observe(keyPaths:on:_:)`.
    ///
    ///     for await change in results.changes { ... }
    public var changes: Changes<RealmCollectionChange<Self>> { changes(keyPaths: nil) }

    /// - Parameter keyPaths: properties whose changes count as a modification of an element; nil for its own properties
    ///   and those of objects that it leads to by at most four links.
    public func changes(keyPaths: [String]?) -> Changes<RealmCollectionChange<Self>> {
        let source = observableSource(keyPaths)
        let detached = DetachedCollection(source)
        let origin = source.instance
        return Changes {
            ChangePuller(origin, failed: { .error($0) }) { instance, puller in
                let token = NotificationToken(nil)
                Self.start(detached, in: instance, keyPaths: keyPaths, token: token) { [weak puller] change in
                    switch change {
                    case .initial(let collection):
                        let isGone = collection.isInvalidated
                        puller?.tell(.initial(isGone ? collection : collection.freeze()), isLast: isGone)
                    case .update(let collection, let deletions, let insertions, let modifications):
                        let isGone = collection.isInvalidated
                        puller?.tell(
                            .update(
                                isGone ? collection : collection.freeze(), deletions: deletions,
                                insertions: insertions, modifications: modifications), isLast: isGone)
                    case .error(let error): puller?.tell(.error(error), isLast: true)
                    }
                }
                return token
            }
        }
    }
}

extension _CheckedReading {
    /// A sequence that delivers the object's changes, then its deletion; see `observe(keyPaths:on:_:)`.
    public var changes: Changes<ObjectChange<Self>> { changes(keyPaths: nil) }

    public func changes(keyPaths: [String]?) -> Changes<ObjectChange<Self>> {
        let origin = observableInstance(keyPaths)
        let detached = DetachedObject(self)
        return Changes {
            ChangePuller(origin, failed: { .error($0) }) { instance, puller in
                let token = NotificationToken(nil)
                let tell = Self.told { [weak puller] change in
                    switch change {
                    case .change(let object, let properties):
                        puller?.tell(.change(object.freeze(), properties.map(\.frozen)))
                    case .deleted: puller?.tell(.deleted, isLast: true)
                    case .error(let error): puller?.tell(.error(error), isLast: true)
                    }
                }
                Self.starting(detached, keyPaths, tell)(instance, token)
                return token
            }
        }
    }
}

extension PropertyChange {
    fileprivate var frozen: PropertyChange {
        guard let object = newValue as? ObjectBase, !object.isFrozen else { return self }
        return PropertyChange(name: name, oldValue: oldValue, newValue: object.isInvalidated ? nil : object.freeze())
    }
}

extension Realm {
    /// A frozen Realm for each call of `next()`: the newest version, as soon as it is newer than that of the last call.
    /// The first call waits for a commit.
    ///
    ///     for await version in realm.changes { draw(version.objects(Dog.self)) }
    public var changes: Changes<Realm> {
        instance.checkConfinement()
        let origin = instance
        return Changes {
            ChangePuller(origin, failed: { _ in nil }) { instance, puller in
                Realm(instance).observe { [weak puller] _, realm in puller?.tell(realm.freeze()) }
            }
        }
    }
}
