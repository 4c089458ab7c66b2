import Dispatch
import StrataStorage
import Synchronization

/// Writes of one Realm that wait for the write lock, and for the disk, without blocking where the Realm lives.
///
/// Requests are served in the order in which they came. The lock is waited for on a queue of its own; its transaction
/// is left in ``grant``, and the Realm's thread, queue or actor is told. A write that blocks and comes in between takes
/// the transaction, since it could never get the lock before; the requests then wait for another one.
/// Concurrency: used where its Realm lives, but for ``grant``.
final class AsyncWrites {
    private unowned let instance: RealmInstance
    private let grant = WriteGrant()
    private var requests: [Request] = []
    private var lastID = 0
    private var isAcquiring = false
    /// Set while a request runs: it may begin and end transactions by itself.
    private var isRunning = false
    /// Set while the write of a request runs that took its transaction itself.
    private var isClaimed = false
    /// What goes on with a group of commits.
    private var groupTransaction: WriteTransaction?
    private var group: [Completion] = []
    private var groupCommit: PendingCommit?
    /// Commits that the disk is waited for.
    private var unfinished = 0
    /// Groups are numbered in the order in which they began, and their completions run in that order.
    private var groupsBegun = 0
    private var groupsTold = 0
    /// Groups that are done while an earlier one still waits for the disk: what is to be told of each, by its number.
    private var early: [Int: ([Completion], StorageError?)] = [:]
    private var cancelledCompletions: Set<Int> = []
    /// Others wait for the write lock as long as a group goes on.
    private static let groupLimit = 256

    struct Request {
        let id: Int
        /// Runs when the transaction is there. One that only waits for it takes it later, by ``claim(_:)``.
        var run: (Result<Void, Realm.Error>) -> Void
        let takesGrantLater: Bool
        /// Whether a request that takes it later was told that it is there.
        var isTold = false
    }

    /// How it went with a request that takes its transaction itself.
    enum Claim {
        /// The write has begun.
        case begun
        /// A write that blocks was faster; the request keeps its place.
        case late
        /// The request was taken back.
        case withdrawn
    }

    typealias Completion = (id: Int, run: ((any Swift.Error)?) -> Void)

    init(_ instance: RealmInstance) { self.instance = instance }

    var isIdle: Bool {
        requests.isEmpty && unfinished == 0 && group.isEmpty && !isAcquiring && !isRunning && !isClaimed
    }

    // MARK: Requests

    /// - Parameter run: called inside the write, which is rolled back when it does not end it.
    func begin(_ run: @escaping (Result<Void, Realm.Error>) -> Void) -> Int {
        let id = nextID()
        requests.append(Request(id: id, run: run, takesGrantLater: false))
        #if Zoo
            if PlantedMistake.asyncOrder.isPlanted { requests.insert(requests.removeLast(), at: 0) }
        #endif
        // The caller goes on first: a request never runs before the call that made it returns.
        pump()
        return id
    }

    /// Calls `isThere` when it is this request's turn, which is then taken by ``claim(_:)``.
    /// - Parameter id: from ``reserve()``; of a request that was late, its number.
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

    /// Takes a request back whose turn has not come, and tells it so; from any thread, where the Realm lives.
    func withdrawal(of id: Int) -> @Sendable () -> Void {
        let living = Living(instance)
        let schedule = instance.confinement.scheduler
        return {
            schedule? {
                // One that was told looks for itself.
                let writes = living.instance.asyncWrites
                if writes.requests.contains(where: { $0.id == id && !$0.isTold }) {
                    writes.withdraw(id)?.run(.success(()))
                }
            }
        }
    }

    /// Takes a request back for which no transaction is there.
    @discardableResult
    func withdraw(_ id: Int) -> Request? {
        guard let place = requests.firstIndex(where: { $0.id == id }) else { return nil }
        let request = requests.remove(at: place)
        if requests.isEmpty { endGroup() }
        pump()
        return request
    }

    /// Takes a request back that has not begun, or a commit's completion.
    /// - Returns: false when there is none of that number.
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

    /// Waits for the next transaction, when somebody wants one and nothing is on the way.
    private func pump() {
        guard !isAcquiring, !isRunning, !instance.isInWrite, !requests.isEmpty else { return }
        if let next = groupTransaction {
            groupTransaction = nil
            return serve(next)
        }
        // Observers are told of a commit before the next write begins, and it is not to be waited for here.
        if unfinished > 0 && !instance.observation.isEmpty { return }
        guard let shared = instance.shared, let schedule = instance.confinement.scheduler else { return }
        isAcquiring = true
        let (store, grant) = (instance.store, grant)
        let living = Living(instance)
        grant.expect()
        shared.writeQueue.async {
            grant.settle(Self.acquire(store))
            schedule { living.instance.asyncWrites.arrived() }
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
            // It takes the place of the request until then.
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

    /// Runs the next request in a transaction, and those that make a group with it.
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
                try instance.begin(running)
                request.run(.success(()))
                // Who does not commit has changed nothing.
                if instance.isInWrite { instance.cancel() }
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

    /// The turn of a request that waited: begins its write.
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
        do throws(Realm.Error) { try instance.begin(transaction) } catch {
            pump()
            throw error
        }
        isClaimed = true
        return .begun
    }

    /// The transaction that is there or on its way; blocks until it is there. Nil when none is.
    func takeGrant() throws(StorageError) -> WriteTransaction? {
        if let next = groupTransaction {
            groupTransaction = nil
            return next
        }
        return try grant.take()
    }

    /// A write that blocks has ended.
    func writeEnded() {
        isClaimed = false
        if !isRunning { pump() }
    }

    // MARK: Commits

    /// Commits the running write without waiting for the disk.
    /// - Parameters:
    ///   - grouped: waits for the disk together with the requests that are there already.
    ///   - completion: called where the Realm lives, after observers were told.
    func commit(grouped: Bool, _ completion: @escaping ((any Swift.Error)?) -> Void) -> Int {
        let id = nextID()
        guard let write = instance.write else { return id }
        isClaimed = false
        if let failure = write.finish() {
            instance.cancel()
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
            instance.endWrite(cancelled: false)
            if let shown = groupCommit?.snapshot {
                instance.show(shown)
            } else {
                instance.showNewest(after: write.transaction)
            }
        } catch {
            instance.endWrite(cancelled: true)
            instance.showNewest(after: write.transaction)
            later { completion(Realm.Error(error)) }
        }
        if groupTransaction == nil { endGroup() }
        if !isRunning { pump() }
        return id
    }

    /// Waits for the disk, elsewhere, and tells everybody who committed.
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
            schedule { living.instance.asyncWrites.arrived(number, members.value, failure) }
        }
    }

    /// The waits end on threads of their own, in any order; completions run in the order of the commits.
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

/// Keeps a Realm until its writes are done.
private struct Living: @unchecked Sendable {  // handed to where the instance lives, and used there only
    let instance: RealmInstance
    init(_ instance: RealmInstance) { self.instance = instance }
}

/// A transaction on its way from where the write lock was waited for.
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

    /// Nobody wants the transaction any more.
    func giveUp() {
        do throws(StorageError) { try take()?.rollback() } catch {}
    }
}
