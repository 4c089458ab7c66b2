internal import StrataFiles

/// A thread that sleeps until its commit is durable, on a lock of its own.
final class CommitWaiter: Sendable {
    /// Why a waiter is woken.
    enum Answer {
        case isDurable
        /// Its next step may be another one now.
        case askAgain
    }

    let version: UInt64
    private let answer: Guarded<Answer?>

    init(for version: UInt64, _ monitor: any Monitor) {
        self.version = version
        answer = Guarded(nil, by: monitor)
    }

    /// Sleeps until the waiter is woken. The caller does not hold the store's lock.
    func sleep() -> Answer {
        answer.whileHeld { held in
            while true {
                if let answer = held.state { return answer }
                held.wait()
            }
        }
    }

    func wake(_ given: Answer) {
        answer.whileHeld { held in
            held.state = given
            held.wakeAll()
        }
    }
}

/// The threads that sleep until their commits are durable.
///
/// After each transition that can change the next step of a waiter, its caller takes the ready ones and wakes them: no
/// other waiter runs, so that a sync does not wake the threads whose commits it does not cover. A part of
/// ``StoreState``.
struct CommitWaiters {
    /// Ascending by version.
    private var sleeping: [CommitWaiter] = []

    var isEmpty: Bool { sleeping.isEmpty }

    /// - Complexity: O(1) for a version that is newer than those of all other waiters.
    mutating func add(_ waiter: CommitWaiter) {
        var place = sleeping.count
        while place > 0 && sleeping[place - 1].version > waiter.version { place -= 1 }
        sleeping.insert(waiter, at: place)
    }

    /// Takes the waiters out that have something to do.
    ///
    /// While no thread leads and records wait, one waiter is among them: it leads the next sync, and takes the next
    /// ones out at its end. A waiter that finds another leader adds itself again.
    mutating func takeReady(_ queue: CommitQueue, isOwner: Bool) -> ReadyWaiters {
        var ready = ReadyWaiters()
        guard let last = sleeping.last else { return ready }
        if queue.nextStep(towards: last.version, isOwner: isOwner) == .giveUp {
            ready.others = sleeping.map { ($0, .askAgain) }
            sleeping.removeAll()
            return ready
        }
        let durable = sleeping.prefix { $0.version <= queue.durable }.count
        if durable > 0 {
            ready.others = sleeping[..<durable].map { ($0, .isDurable) }
            sleeping.removeFirst(durable)
        }
        if let first = sleeping.first, queue.nextStep(towards: first.version, isOwner: isOwner) == .lead {
            ready.leader = sleeping.removeFirst()
        }
        return ready
    }
}

/// Waiters that were taken out, for their caller to wake.
struct ReadyWaiters {
    /// Leads the next sync. It is woken first: the disk is idle until it runs.
    fileprivate(set) var leader: CommitWaiter?
    fileprivate(set) var others: [(waiter: CommitWaiter, answer: CommitWaiter.Answer)] = []

    func wake() {
        leader?.wake(.askAgain)
        for (waiter, answer) in others { waiter.wake(answer) }
    }
}
