import Dispatch
import StrataStorage
import Synchronization

/// The asynchronous writes of one Realm: they wait for the write gate and for the disk without blocking the thread,
/// queue or actor of the Realm.
///
/// Requests are served in order. The file's ``SharedStore/writeQueue`` waits for the gate and stores the transaction
/// that it acquired in ``grant``; then the Realm is woken. A blocking write of the Realm that comes in between takes
/// that transaction, since it could not acquire the gate otherwise; the requests then wait for another one.
///
/// Concurrency: used on the Realm's main thread, queue or actor, except ``grant``.
final class AsyncWrites {
    private unowned let instance: RealmInstance
    private let grant = WriteGrant()
    private var requests: [Request] = []
    private var lastID = 0
    /// Set while a transaction is on its way, or acquired for a task that has not claimed it.
    private var isAcquiring = false
    /// Set while the closure of a request runs, which may begin and end writes itself.
    private var isRunning = false
    /// Set while a write runs that a task began by ``claim(_:)``.
    private var isClaimed = false
    /// The next transaction of a commit batch that is not complete; it holds the write gate.
    private var groupTransaction: WriteTransaction?
    /// The completions of that batch, and its last commit: with it the whole batch is durable.
    private var group: [Completion] = []
    private var groupCommit: PendingCommit?
    /// The number of commit batches that wait for the disk. A commit that is not grouped is a batch of its own.
    private var unfinished = 0
    /// How many batches began to wait for the disk, and the completions of how many were called: in the same order.
    private var groupsBegun = 0
    private var groupsTold = 0
    /// Batches that are durable while an earlier one still waits for the disk: their completions and errors by number.
    private var early: [Int: ([Completion], StorageError?)] = [:]
    private var cancelledCompletions: Set<Int> = []
    /// The most commits of a batch: all other writers wait for the gate until it is complete.
    private static let groupLimit = 256

    struct Request {
        let id: Int
        /// Called when the transaction is acquired: inside the write; for a request that claims the transaction later,
        /// only to tell it so.
        var run: (Result<Void, RealmError>) -> Void
        let takesGrantLater: Bool
        /// Whether a request that claims its transaction was told that it is acquired.
        var isTold = false
    }

    /// The result of ``claim(_:)``.
    enum Claim {
        /// The write has begun.
        case begun
        /// A blocking write took the transaction; the request keeps its place in the queue.
        case late
        /// The request was withdrawn.
        case withdrawn
    }

    typealias Completion = (id: Int, run: ((any Swift.Error)?) -> Void)

    init(_ instance: RealmInstance) { self.instance = instance }

    var isIdle: Bool {
        requests.isEmpty && unfinished == 0 && group.isEmpty && !isAcquiring && !isRunning && !isClaimed
    }

    // MARK: Requests

    /// Requests a write.
    /// - Parameter run: called inside the write, which is rolled back unless `run` ends it; or with the error for which
    ///   there is no write.
    /// - Returns: the request's number.
    func begin(_ run: @escaping (Result<Void, RealmError>) -> Void) -> Int {
        let id = nextID()
        requests.append(Request(id: id, run: run, takesGrantLater: false))
        #if Zoo
            if PlantedMistake.asyncOrder.isPlanted { requests.insert(requests.removeLast(), at: 0) }
        #endif
        // Calls `run` later: never before this returns.
        pump()
        return id
    }

    /// Requests a write for a task. Calls `isThere` when the transaction is acquired; the task then begins the write by
    /// ``claim(_:)``.
    /// - Parameter id: from ``reserve()``, or of a request whose claim was `late`.
    func wait(_ id: Int, _ isThere: @escaping (Result<Void, RealmError>) -> Void) {
        if let place = requests.firstIndex(where: { $0.id == id }) {
            requests[place].run = isThere
            requests[place].isTold = false
        } else {
            requests.append(Request(id: id, run: isThere, takesGrantLater: true))
        }
        pump()
    }

    /// A number for ``wait(_:_:)``, by which the request can be withdrawn before it is made.
    func reserve() -> Int { nextID() }

    /// A closure for any thread, which withdraws a request if its turn has not come, and calls the request's closure:
    /// its claim is `withdrawn` then.
    func withdrawal(of id: Int) -> @Sendable () -> Void {
        let living = Living(instance)
        let schedule = instance.confinement.scheduler
        return {
            schedule? {
                // A task whose request was told that it may claim checks for its cancellation itself.
                let writes = living.instance.writing.asyncWrites
                if writes.requests.contains(where: { $0.id == id && !$0.isTold }) {
                    writes.withdraw(id)?.run(.success(()))
                }
            }
        }
    }

    /// Removes a request that has not begun.
    /// - Returns: the request; nil if there is none.
    @discardableResult
    func withdraw(_ id: Int) -> Request? {
        guard let place = requests.firstIndex(where: { $0.id == id }) else { return nil }
        let request = requests.remove(at: place)
        if requests.isEmpty { endGroup() }
        pump()
        return request
    }

    /// Cancels a request that has not begun, or a commit's completion.
    /// - Returns: false if there is none with this number.
    func cancel(_ id: Int) -> Bool {
        if let place = requests.firstIndex(where: { $0.id == id }) {
            requests.remove(at: place)
            if requests.isEmpty { endGroup() }
            return true
        }
        guard id > 0, id <= lastID, unfinished > 0 || !group.isEmpty else { return false }
        cancelledCompletions.insert(id)
        return true
    }

    private func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Lets the file's queue acquire the next transaction, if a request waits and no transaction is on its way.
    private func pump() {
        guard !isAcquiring, !isRunning, !instance.isInWrite, !requests.isEmpty else { return }
        if let next = groupTransaction {
            groupTransaction = nil
            return serve(next)
        }
        // Observers are notified of a commit before the next write begins, and this thread must not wait for the disk:
        // the end of the commit calls `pump` again.
        if unfinished > 0 && !instance.observation.isEmpty { return }
        guard let shared = instance.file.shared, let schedule = instance.confinement.scheduler else { return }
        isAcquiring = true
        let (store, grant) = (instance.file.store, grant)
        let living = Living(instance)
        grant.expect()
        shared.writeQueue.async {
            grant.settle(Self.acquire(store))
            schedule { living.instance.writing.asyncWrites.arrived() }
        }
    }

    private static func acquire(_ store: Store) -> Result<WriteTransaction, StorageError> {
        do throws(StorageError) { return .success(try store.beginWrite()) } catch { return .failure(error) }
    }

    private func arrived() {
        isAcquiring = false
        guard let first = requests.first else { return grant.giveUp() }
        guard grant.isSettled else { return pump() }
        if first.takesGrantLater {
            // No other transaction is acquired until the request claims this one.
            isAcquiring = true
            requests[0].isTold = true
            return first.run(.success(()))
        }
        do throws(StorageError) {
            if let transaction = try takeGrant() { serve(transaction) } else { pump() }
        } catch {
            if !requests.isEmpty { requests.removeFirst().run(.failure(RealmError(error))) }
            pump()
        }
    }

    /// Runs the next request in a transaction. If it commits as part of a batch, runs further ones in the batch's next
    /// transactions.
    private func serve(_ transaction: WriteTransaction) {
        var next: WriteTransaction? = transaction
        while let running = next {
            guard !requests.isEmpty else { return running.rollback() }
            if requests[0].takesGrantLater {
                isAcquiring = true
                grant.expect()
                grant.settle(.success(running))
                requests[0].isTold = true
                return requests[0].run(.success(()))
            }
            let request = requests.removeFirst()
            isRunning = true
            do throws(RealmError) {
                try instance.writing.begin(running)
                request.run(.success(()))
                // A request without a commit is rolled back.
                if instance.isInWrite { instance.writing.cancel() }
            } catch {
                request.run(.failure(error))
            }
            isRunning = false
            if requests.isEmpty || groupTransaction == nil { endGroup() }
            next = groupTransaction
            groupTransaction = nil
        }
        pump()
    }

    /// Begins the write of a request, after it was told that its transaction is acquired.
    /// - Throws: why there is no write; the request is removed then.
    func claim(_ id: Int) throws(RealmError) -> Claim {
        guard requests.contains(where: { $0.id == id }) else { return .withdrawn }
        isAcquiring = false
        guard requests.first?.id == id else { return .late }
        var granted: WriteTransaction?
        do throws(StorageError) {
            if grant.isSettled { granted = try takeGrant() }
        } catch {
            requests.removeFirst()
            pump()
            throw RealmError(error)
        }
        guard let transaction = granted else { return .late }
        requests.removeFirst()
        do throws(RealmError) { try instance.writing.begin(transaction) } catch {
            pump()
            throw error
        }
        isClaimed = true
        return .begun
    }

    /// The acquired transaction; blocks if one is on its way. Nil if there is none.
    func takeGrant() throws(StorageError) -> WriteTransaction? {
        if let next = groupTransaction {
            groupTransaction = nil
            return next
        }
        return try grant.take()
    }

    /// Called at the end of a blocking write.
    func writeEnded() {
        isClaimed = false
        if !isRunning { pump() }
    }

    // MARK: Commits

    /// Commits the running write without waiting for the disk.
    /// - Parameters:
    ///   - grouped: whether the commit may form one commit batch with the requests that wait already.
    ///   - completion: called on the Realm's main thread, queue or actor, after observers were notified.
    /// - Returns: a number by which the call of `completion` can be cancelled.
    func commit(grouped: Bool, _ completion: @escaping ((any Swift.Error)?) -> Void) -> Int {
        let id = nextID()
        guard let write = instance.write else { return id }
        isClaimed = false
        if let failure = write.finish() {
            instance.writing.cancel()
            later { completion(failure) }
            return id
        }
        do throws(StorageError) {
            if grouped && isRunning && !requests.isEmpty && group.count < Self.groupLimit {
                let (done, next) = try write.transaction.commitGrouped()
                groupTransaction = next
                groupCommit = done
            } else {
                groupCommit = try write.transaction.commitWithoutWaiting()
            }
            group.append((id, completion))
            instance.writing.end(write, isCancelled: false)
            if let shown = groupCommit?.snapshot {
                instance.show(shown)
            } else {
                instance.showNewest(after: write.transaction)
            }
        } catch {
            instance.writing.end(write, isCancelled: true)
            instance.showNewest(after: write.transaction)
            later { completion(RealmError(error)) }
        }
        if groupTransaction == nil { endGroup() }
        if !isRunning { pump() }
        return id
    }

    /// Completes the commit batch: another thread waits for the disk, then the completions of the batch are called.
    private func endGroup() {
        if let rest = groupTransaction {
            groupTransaction = nil
            rest.rollback()
        }
        guard let commit = groupCommit, let schedule = instance.confinement.scheduler else { return }
        let members = Carried(value: group)
        groupCommit = nil
        group = []
        unfinished += 1
        let number = groupsBegun
        groupsBegun += 1
        let living = Living(instance)
        DispatchQueue.global().async {
            let failure: StorageError?
            do throws(StorageError) {
                try commit.wait()
                failure = nil
            } catch {
                failure = error
            }
            schedule { living.instance.writing.asyncWrites.arrived(number, members.value, failure) }
        }
    }

    /// Called when a batch is durable or has failed. Each waits on a thread of its own, so they may come in any order;
    /// the completions are called in the order of the commits.
    private func arrived(_ number: Int, _ members: [Completion], _ failure: StorageError?) {
        early[number] = (members, failure)
        while let (members, failure) = early.removeValue(forKey: groupsTold) {
            groupsTold += 1
            finished(members, failure)
        }
    }

    private func finished(_ members: [Completion], _ failure: StorageError?) {
        unfinished -= 1
        if !instance.isInWrite && !instance.refresh() { instance.observation.deliver(instance) }
        for member in members where cancelledCompletions.remove(member.id) == nil {
            member.run(failure.map { RealmError($0) })
        }
        pump()
    }

    private func later(_ work: @escaping () -> Void) {
        let carried = Carried(value: work)
        let living = Living(instance)
        instance.confinement.scheduler? { withExtendedLifetime(living) { carried.value() } }
    }
}

/// Retains a Realm until its asynchronous writes are done.
private struct Living: @unchecked Sendable {  // handed to where the instance lives, and used there only
    let instance: RealmInstance
    init(_ instance: RealmInstance) { self.instance = instance }
}

/// Hands a transaction from the thread that acquired the write gate to the thread of the Realm.
///
/// Concurrency: any thread. `expect` comes first, on the Realm's side, then `settle` by the thread with the
/// transaction; `take` waits for that.
private final class WriteGrant: Sendable {
    private struct State: @unchecked Sendable {  // a transaction may be handed over; one side has it at a time
        var isExpected = false
        var result: Result<WriteTransaction, StorageError>?
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    func expect() { state.withLock { $0.isExpected = true } }

    var isSettled: Bool { state.withLock { $0.result != nil } }

    func settle(_ result: Result<WriteTransaction, StorageError>) {
        let carried = Carried(value: result)
        state.withLock { $0.result = carried.value }
        arrival.signal()
    }

    /// The transaction; blocks while it is on its way. Nil if none is expected.
    func take() throws(StorageError) -> WriteTransaction? {
        guard state.withLock({ $0.isExpected }) else { return nil }
        arrival.wait()
        let taken = state.withLock { state in
            let taken = State(isExpected: false, result: state.result)
            state = State()
            return taken
        }
        return try taken.result?.get()
    }

    /// Rolls back a transaction that no request needs any more.
    func giveUp() {
        do throws(StorageError) { try take()?.rollback() } catch {}
    }
}
