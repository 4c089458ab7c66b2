import Dispatch
import StrataStorage
import Synchronization

/// A number by which an asynchronous write or commit can be taken back.
public typealias AsyncTransactionId = Int

extension Realm {
    // MARK: Opening

    /// Opens a Realm that belongs to an actor; the file is opened, and migrated, elsewhere.
    ///
    ///     actor Library {
    ///         var realm: Realm!
    ///         init() async throws { realm = try await Realm(actor: self) }
    ///     }
    /// - Throws: ``Realm/Error``, or what the migration block threw.
    public init(configuration: Configuration = .defaultConfiguration, actor: isolated any Actor) async throws {
        let shared = try await Self.opened(configuration)
        instance = try InstanceCache.instance(configuration, shared, .actor(actor))
    }

    /// Opens a Realm that belongs to the calling actor.
    ///
    ///     let realm = try await Realm.open(configuration: configuration)
    ///
    /// In an actor's own `init` there is no calling actor yet: use `Realm(configuration:actor:)` with `self` there.
    /// - Throws: ``Realm/Error``, with `invalidInput` where no actor calls; or what the migration block threw.
    public static func open(
        configuration: Configuration = .defaultConfiguration, actor: isolated (any Actor)? = #isolation
    ) async throws -> Realm {
        guard let actor else {
            throw Realm.Error(
                .invalidInput,
                "Realm.open is for code that runs on an actor, which an actor's init does not yet; "
                    + "use Realm(configuration:actor:) with self there, or Realm(configuration:) off actors")
        }
        let shared = try await Self.opened(configuration)
        return Realm(try InstanceCache.instance(configuration, shared, .actor(actor)))
    }

    /// Opens a file, and migrates it, on another thread, and hands its Realm to `callback` on a queue where it belongs.
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
        // Handed over once, to the queue that calls it.
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

    /// Runs a transaction without blocking the actor while others write or while the disk is waited for.
    ///
    /// Writes of one Realm begin in the order in which they were asked for. `body` runs on the actor, without a
    /// suspension. The Realm shows what was written as soon as `body` is done, everybody else when it is durable.
    /// - Throws: as ``write(withoutNotifying:_:)``; `CancellationError` when the task was cancelled before its turn.
    @discardableResult
    public func asyncWrite<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () throws -> Result
    ) async throws -> Result {
        if let refusal = asynchronousRefusal() { throw refusal }
        let writes = instance.asyncWrites
        try await beginInTask(writes, isolation)
        let result: Result
        do {
            result = try body()
        } catch {
            if instance.isInWrite { instance.cancel() }
            throw error
        }
        guard instance.isInWrite else { return result }
        if let failure = instance.failure {
            instance.cancel()
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
                let turn: Swift.Result<Void, Realm.Error> = await withCheckedContinuation(isolation: isolation) {
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
            instance.cancel()
            throw CancellationError()
        }
    }

    /// Shows the newest version, and tells observers, as ``refresh()`` does.
    /// - Returns: whether there was something new.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        instance.checkConfinement()
        return instance.refresh()
    }

    // MARK: Writing with callbacks

    /// Runs a transaction later, where the Realm lives, without blocking while others write or while the disk is waited
    /// for.
    /// - Parameters:
    ///   - block: runs inside the write.
    ///   - onComplete: called there when the write is durable, or with why it was rolled back.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        guard canWriteAsynchronously(onComplete) else { return 0 }
        let instance = instance
        return instance.asyncWrites.begin { [unowned instance] turn in
            if case .failure(let error) = turn {
                onComplete?(error)
            } else {
                block()
                if instance.isInWrite { _ = instance.asyncWrites.commit(grouped: false) { onComplete?($0) } }
            }
        }
    }

    /// Calls `block` inside a write, later, where the Realm lives. The block ends the write, by
    /// ``commitAsyncWrite(allowGrouping:_:)``, ``commitWrite(withoutNotifying:)`` or ``cancelWrite()``; it is rolled
    /// back when it does not.
    @discardableResult
    public func beginAsyncWrite(_ block: @escaping () -> Void) -> AsyncTransactionId {
        guard canWriteAsynchronously(nil) else { return 0 }
        let instance = instance
        return instance.asyncWrites.begin { [unowned instance] turn in
            guard case .failure(let error) = turn else { return block() }
            instance.failures.note(error)
            instance.report("", nil, "a write that was to begin later cannot begin: \(error)")
        }
    }

    /// Ends the running write without waiting for the disk. The Realm shows what was written at once, everybody else
    /// when it is durable.
    ///
    /// A write that is marked as failed is rolled back.
    /// - Parameters:
    ///   - allowGrouping: waits for the disk together with the asynchronous writes that are asked for already: after a
    ///     crash all of them are there, or none is. From the third commit of a session on; the first two are synced one
    ///     by one.
    ///   - onComplete: called where the Realm lives, with why the write is lost if it is.
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
        return instance.asyncWrites.commit(grouped: allowGrouping) { onComplete?($0) }
    }

    /// Takes an asynchronous write back that has not begun. Of a commit, only its completion is taken back.
    /// - Throws: `invalidInput` when there is none of that number, or when it is done.
    public func cancelAsyncWrite(_ id: AsyncTransactionId) throws {
        try instance.requireHere()
        guard instance.existingAsyncWrites?.cancel(id) ?? false else {
            throw Realm.Error(.invalidInput, "no asynchronous write \(id) waits; it is done, or was cancelled before")
        }
    }

    /// Whether asynchronous writes wait, or commits wait for the disk.
    public var isPerformingAsynchronousWriteOperations: Bool {
        instance.checkConfinement()
        return !(instance.existingAsyncWrites?.isIdle ?? true)
    }

    private static var asynchronousRefusalText: String {
        "asynchronous writes need a Realm of the main thread, of a queue or of an actor: open it with queue: or actor:"
    }

    private func asynchronousRefusal() -> Realm.Error? {
        if let refusal = instance.refusalToWrite(), !(instance.isInWrite && refusal.code == .wrongState) {
            return refusal
        }
        return instance.confinement.scheduler == nil ? Realm.Error(.wrongState, Self.asynchronousRefusalText) : nil
    }

    /// The refusal goes to who can hear of it; else the program ends.
    private func canWriteAsynchronously(_ onComplete: (((any Swift.Error)?) -> Void)?) -> Bool {
        guard let refusal = asynchronousRefusal() else { return true }
        guard let onComplete else { fatalError(refusal.message) }
        onComplete(refusal)
        return false
    }
}

/// An open that runs elsewhere.
public struct AsyncOpenTask: Sendable {
    private final class State: Sendable {
        let isCancelled = Atomic(false)
    }

    private let state = State()

    /// Keeps the callback from being called. The file may be opened, and migrated, all the same.
    public func cancel() { state.isCancelled.store(true, ordering: .relaxed) }

    var isCancelled: Bool { state.isCancelled.load(ordering: .relaxed) }
}
