import Dispatch
import StrataStorage
import Synchronization

/// A number by which an asynchronous write, or the completion of a commit, can be cancelled. 0 for a refused one.
public typealias AsyncTransactionId = Int

extension Realm {
    // MARK: Opening

    /// Opens a Realm that belongs to an actor; another thread opens and migrates the file.
    ///
    ///     actor Library {
    ///         var realm: Realm!
    ///         init() async throws { realm = try await Realm(actor: self) }
    ///     }
    /// - Throws: ``Realm/Error``, or the error of the migration block.
    public init(configuration: Configuration = .defaultConfiguration, actor: isolated any Actor) async throws {
        let shared = try await Self.opened(configuration)
        instance = try InstanceCache.instance(configuration, shared, .actor(actor))
    }

    /// Opens a Realm that belongs to the calling actor.
    ///
    ///     let realm = try await Realm.open(configuration: configuration)
    ///
    /// In an actor's own `init` there is no calling actor yet: call `Realm(configuration:actor:)` with `self` there.
    /// - Throws: ``Realm/Error``, with `invalidInput` if the caller is no actor; the error of the migration block.
    public static func open(
        configuration: Configuration = .defaultConfiguration, actor: isolated (any Actor)? = #isolation
    ) async throws -> Realm {
        guard let actor else {
            throw RealmError(
                .invalidInput,
                "Realm.open is for code that runs on an actor, which an actor's init does not yet; "
                    + "use Realm(configuration:actor:) with self there, or Realm(configuration:) off actors")
        }
        let shared = try await Self.opened(configuration)
        return Realm(try InstanceCache.instance(configuration, shared, .actor(actor)))
    }

    /// Opens and migrates a file on another thread, then calls `callback` on `callbackQueue` with a Realm that belongs
    /// to that queue.
    ///
    ///     Realm.asyncOpen(configuration: configuration) { result in
    ///         guard case .success(let realm) = result else { return }
    ///         show(realm.objects(Dog.self))
    ///     }
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask()
        // Used by the queue that calls it only.
        nonisolated(unsafe) let callback = callback
        DispatchQueue.global().async {
            let found = Result { try openStore(configuration) }
            callbackQueue.async {
                if task.isCancelled { return }
                callback(
                    Result { Realm(try InstanceCache.instance(configuration, try found.get(), .queue(callbackQueue))) })
            }
        }
        return task
    }

    private static func openStore(_ configuration: Configuration) throws -> SharedStore {
        try configuration.requirePlace()
        return try SharedStore.open(configuration)
    }

    private static func opened(_ configuration: Configuration) async throws -> SharedStore {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                do { continuation.resume(returning: try openStore(configuration)) } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    // MARK: Writing in a task

    /// Runs a transaction without blocking the actor while it waits for other writers or for the disk.
    ///
    /// Writes of one Realm begin in the order of the calls. `body` runs on the actor without a suspension. This Realm
    /// shows the changes as soon as `body` has returned; all other Realms see them once they are durable.
    /// - Throws: as ``write(withoutNotifying:_:)``; `CancellationError` if the task was cancelled before its turn.
    @discardableResult
    public func asyncWrite<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Result
    ) async throws -> Result {
        if let refusal = asynchronousRefusal() { throw refusal }
        let writes = instance.writing.asyncWrites
        try await beginInTask(writes, isolation)
        let result: Result
        do {
            result = try body()
        } catch {
            if instance.isInWrite { instance.writing.cancel() }
            throw error
        }
        guard instance.isInWrite else { return result }
        if let failure = instance.failure {
            instance.writing.cancel()
            throw failure
        }
        let failure: (any Swift.Error)? = await withCheckedContinuation(isolation: isolation) { continuation in
            let resume = Carried(value: continuation)
            _ = writes.commit(grouped: false) { resume.value.resume(returning: $0) }
        }
        if let failure { throw failure }
        return result
    }

    private func beginInTask(_ writes: AsyncWrites, _ isolation: isolated (any Actor)?) async throws {
        let id = writes.reserve()
        let withdraw = writes.withdrawal(of: id)
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            while true {
                let turn: Swift.Result<Void, RealmError> = await withCheckedContinuation(isolation: isolation) {
                    continuation in
                    writes.wait(id) { continuation.resume(returning: $0) }
                }
                try turn.get()
                switch try writes.claim(id) {
                case .begun: return
                case .late where Task.isCancelled:
                    writes.withdraw(id)
                    throw CancellationError()
                case .late: continue
                case .withdrawn: throw CancellationError()
                }
            }
        } onCancel: {
            withdraw()
        }
        if Task.isCancelled {
            instance.writing.cancel()
            throw CancellationError()
        }
    }

    /// Shows the newest version, and notifies observers, as ``refresh()`` does.
    /// - Returns: whether the version is a newer one.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        instance.checkConfinement()
        return instance.refresh()
    }

    // MARK: Writing with callbacks

    /// Runs a transaction later, on the Realm's main thread, queue or actor, without blocking that while it waits for
    /// other writers or for the disk.
    /// - Parameters:
    ///   - block: runs inside the write.
    ///   - onComplete: called there, too, once the write is durable, or with the error for which it was rolled back.
    ///     Without it, a write that cannot be requested ends the program.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        guard canWriteAsynchronously(onComplete) else { return 0 }
        let instance = instance
        return instance.writing.asyncWrites.begin { [unowned instance] turn in
            if case .failure(let error) = turn {
                onComplete?(error)
            } else {
                block()
                if instance.isInWrite { _ = instance.writing.asyncWrites.commit(grouped: false) { onComplete?($0) } }
            }
        }
    }

    /// Calls `block` later inside a write, on the Realm's main thread, queue or actor. The block ends the write by
    /// ``commitAsyncWrite(allowGrouping:_:)``, ``commitWrite(withoutNotifying:)`` or ``cancelWrite()``; otherwise it is
    /// rolled back.
    @discardableResult
    public func beginAsyncWrite(_ block: @escaping () -> Void) -> AsyncTransactionId {
        guard canWriteAsynchronously(nil) else { return 0 }
        let instance = instance
        return instance.writing.asyncWrites.begin { [unowned instance] turn in
            guard case .failure(let error) = turn else { return block() }
            instance.failures.note(error)
            instance.report("", nil, "a write that was to begin later cannot begin: \(error)")
        }
    }

    /// Commits the running write without waiting for the disk. This Realm shows the changes at once; all other Realms
    /// see them once they are durable.
    ///
    /// A write that has failed is rolled back.
    /// - Parameters:
    ///   - allowGrouping: commits together with the asynchronous writes that are requested already: after a crash all
    ///     of them are kept, or none. The first two commits after the file was opened are always synced one by one.
    ///   - onComplete: called on the Realm's main thread, queue or actor, with an error if the write is lost.
    @discardableResult
    public func commitAsyncWrite(
        allowGrouping: Bool = false, _ onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        instance.checkConfinement()
        guard instance.isInWrite else {
            fatalError("commitAsyncWrite without a write; begin one with beginAsyncWrite or beginWrite")
        }
        if instance.confinement.scheduler == nil {
            fatalError(Self.asynchronousRefusalText)
        }
        return instance.writing.asyncWrites.commit(grouped: allowGrouping) { onComplete?($0) }
    }

    /// Cancels an asynchronous write that has not begun. For a commit, only its completion is cancelled.
    /// - Throws: `invalidInput` if no write or commit with this number waits.
    public func cancelAsyncWrite(_ id: AsyncTransactionId) throws {
        try instance.requireHere()
        guard instance.writing.startedAsyncWrites?.cancel(id) ?? false else {
            throw RealmError(.invalidInput, "no asynchronous write \(id) waits; it is done, or was cancelled before")
        }
    }

    /// Whether asynchronous writes wait for their turn or run, or commits wait for the disk.
    public var isPerformingAsynchronousWriteOperations: Bool {
        instance.checkConfinement()
        return !(instance.writing.startedAsyncWrites?.isIdle ?? true)
    }

    private static var asynchronousRefusalText: String {
        "asynchronous writes need a Realm of the main thread, of a queue or of an actor: open it with queue: or actor:"
    }

    private func asynchronousRefusal() -> RealmError? {
        if let refusal = instance.writing.refusal(), !(instance.isInWrite && refusal.code == .wrongState) {
            return refusal
        }
        return instance.confinement.scheduler == nil ? RealmError(.wrongState, Self.asynchronousRefusalText) : nil
    }

    /// Whether an asynchronous write can be requested. If not, calls the completion with the reason; without a
    /// completion, ends the program.
    private func canWriteAsynchronously(_ onComplete: (((any Swift.Error)?) -> Void)?) -> Bool {
        guard let refusal = asynchronousRefusal() else { return true }
        guard let onComplete else { fatalError(refusal.message) }
        onComplete(refusal)
        return false
    }
}

/// An open that runs on another thread.
public struct AsyncOpenTask: Sendable {
    private final class State: Sendable {
        let isCancelled = Atomic(false)
    }

    private let state = State()

    /// Prevents the call of the callback. The file may still be opened and migrated.
    public func cancel() { state.isCancelled.store(true, ordering: .relaxed) }

    var isCancelled: Bool { state.isCancelled.load(ordering: .relaxed) }
}
