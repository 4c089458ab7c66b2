import Dispatch
import StrataStorage
import Synchronization

/// Asynchronous writes of one Realm, which wait for the write gate and the disk without blocking the Realm's thread.
///
/// Requests are served in order. A queue of its own waits for the gate; the acquired transaction is stored in
/// ``grant``, and the Realm's thread, queue or actor is woken. A blocking write that comes in between takes the stored
/// transaction, since it could not acquire the gate otherwise; the requests then wait for another one.
/// Concurrency: used where its Realm lives, except ``grant``.
final class AsyncWrites {
    private unowned let instance: RealmInstance
    private let grant = WriteGrant()
    private var requests: [Request] = []
    private var lastID = 0
    private var isAcquiring = false
    /// Set while a request runs, which may begin and end transactions itself.
    private var isRunning = false
    /// Set while the write of a request runs that claimed its transaction by ``claim(_:)``.
    private var isClaimed = false
    /// The next transaction of an open commit batch.
    private var groupTransaction: WriteTransaction?
    private var group: [Completion] = []
    private var groupCommit: PendingCommit?
    /// Number of commits that wait for the disk.
    private var unfinished = 0
    /// Numbers of commit batches in the order of their beginning; their completions run in that order.
    private var groupsBegun = 0
    private var groupsTold = 0
    /// Batches that are durable while an earlier one still waits for the disk: their completions and errors by number.
    private var early: [Int: ([Completion], StorageError?)] = [:]
    private var cancelledCompletions: Set<Int> = []
    /// Most commits of a batch: other writers wait for the gate while it lasts.
    private static let groupLimit = 256

    struct Request {
        let id: Int
        /// Runs when the transaction is acquired. A request that claims it later only learns that it is acquired.
        var run: (Result<Void, Realm.Error>) -> Void
        let takesGrantLater: Bool
        /// Whether a claiming request was told that the transaction is acquired.
        var isTold = false
    }

    /// Result of claiming a transaction.
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

    /// - Parameter run: called inside the write, which is rolled back unless `run` ends it.
    func begin(_ run: @escaping (Result<Void, Realm.Error>) -> Void) -> Int {
        let id = nextID()
        requests.append(Request(id: id, run: run, takesGrantLater: false))
        #if Zoo
            if PlantedMistake.asyncOrder.isPlanted { requests.insert(requests.removeLast(), at: 0) }
        #endif
        // Asynchronous: a request never runs before the call that made it returns.
        pump()
        return id
    }

    /// Calls `isThere` at this request's turn; the caller then claims it by ``claim(_:)``.
    /// - Parameter id: from ``reserve()``, or of a request that came late.
    func wait(_ id: Int, _ isThere: @escaping (Result<Void, Realm.Error>) -> Void) {
        if let place = requests.firstIndex(where: { $0.id == id }) {
            requests[place].run = isThere
            requests[place].isTold = false
        } else {
            requests.append(Request(id: id, run: isThere, takesGrantLater: true))
        }
        pump()
    }

    /// A number for ``wait(_:_:)``.
    func reserve() -> Int { nextID() }

    /// Returns a closure that withdraws a request before its turn, and calls it; callable from any thread.
    func withdrawal(of id: Int) -> @Sendable () -> Void {
        let living = Living(instance)
        let schedule = instance.confinement.scheduler
        return {
            schedule? {
                // A request that was told checks for itself.
                let writes = living.instance.writing.asyncWrites
                if writes.requests.contains(where: { $0.id == id && !$0.isTold }) {
                    writes.withdraw(id)?.run(.success(()))
                }
            }
        }
    }

    /// Withdraws a request whose transaction is not acquired yet.
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

    /// Acquires the next transaction if a request waits and none is on the way.
    private func pump() {
        guard !isAcquiring, !isRunning, !instance.isInWrite, !requests.isEmpty else { return }
        if let next = groupTransaction {
            groupTransaction = nil
            return serve(next)
        }
        // Observers are notified of a commit before the next write begins; this thread must not wait for that.
        if unfinished > 0 && !instance.observation.isEmpty { return }
        guard let shared = instance.shared, let schedule = instance.confinement.scheduler else { return }
        isAcquiring = true
        let (store, grant) = (instance.store, grant)
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
            // The transaction is reserved for the request until it claims it.
            isAcquiring = true
            requests[0].isTold = true
            return first.run(.success(()))
        }
        do throws(StorageError) {
            if let transaction = try takeGrant() { serve(transaction) } else { pump() }
        } catch {
            if !requests.isEmpty { requests.removeFirst().run(.failure(Realm.Error(error))) }
            pump()
        }
    }

    /// Runs the next request in a transaction, and further ones in the same commit batch.
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
            do throws(Realm.Error) {
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

    /// Begins the write of a request at its turn.
    func claim(_ id: Int) throws(Realm.Error) -> Claim {
        guard requests.contains(where: { $0.id == id }) else { return .withdrawn }
        isAcquiring = false
        guard requests.first?.id == id else { return .late }
        var granted: WriteTransaction?
        do throws(StorageError) {
            if grant.isSettled { granted = try takeGrant() }
        } catch {
            requests.removeFirst()
            pump()
            throw Realm.Error(error)
        }
        guard let transaction = granted else { return .late }
        requests.removeFirst()
        do throws(Realm.Error) { try instance.writing.begin(transaction) } catch {
            pump()
            throw error
        }
        isClaimed = true
        return .begun
    }

    /// The acquired transaction, or the one on its way, for which this blocks. Nil if there is none.
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
    ///   - grouped: commits together with the requests that wait already, in one commit batch.
    ///   - completion: called where the Realm lives, after observers were notified.
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
            later { completion(Realm.Error(error)) }
        }
        if groupTransaction == nil { endGroup() }
        if !isRunning { pump() }
        return id
    }

    /// Waits for the disk on another thread, and calls the completions of the batch.
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

    /// The waits end on their own threads in any order; completions run in the order of the commits.
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
            member.run(failure.map { Realm.Error($0) })
        }
        pump()
    }

    private func later(_ work: @escaping () -> Void) {
        let carried = Carried(value: work)
        let living = Living(instance)
        instance.confinement.scheduler? { withExtendedLifetime(living) { carried.value() } }
    }
}

/// Keeps a Realm alive until its writes are done.
private struct Living: @unchecked Sendable {  // handed to where the instance lives, and used there only
    let instance: RealmInstance
    init(_ instance: RealmInstance) { self.instance = instance }
}

/// A transaction on its way from the thread that acquired the write gate.
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

    /// Blocks while a transaction is on its way.
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
