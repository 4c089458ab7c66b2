import Dispatch
import StrataFiles
import Synchronization

/// The thread, queue or actor of a Realm, where everything read from it must be used.
enum Confinement {
    /// A thread that the program made: no work can be sent to it.
    case thread(UInt64)
    /// The main thread, the main queue and the main actor, which on some systems are not always the same thread.
    case main
    case queue(DispatchQueue, UInt64)
    case actor(ActorPlace)
    /// Frozen: any thread.
    case none

    /// The caller's thread or queue, as far as it is known: a queue is recognized if a Realm was opened for it before.
    static var here: Self {
        if isOnMain { return .main }
        if let mark = DispatchQueue.getSpecific(key: QueueMark.key), let queue = QueueMark.queue(mark) {
            return .queue(queue, mark)
        }
        return .thread(CallingContext.thread)
    }

    /// The calling thread's number, which is never reused.
    static var currentThread: UInt64 { CallingContext.thread }

    static func queue(_ queue: DispatchQueue) -> Self {
        queue === DispatchQueue.main ? .main : .queue(queue, QueueMark.mark(queue))
    }

    static func actor(_ actor: any Actor) -> Self {
        actor is MainActor ? .main : .actor(ActorPlace(actor))
    }

    /// The number of the one thread that may always use the Realm; a number that no thread has if it may be another
    /// one.
    var ownThread: UInt64 {
        switch self {
        case .thread(let thread): return thread
        case .main: return CallingContext.isFirstThread ? CallingContext.thread : .max
        case .queue, .actor, .none: return .max
        }
    }

    var isHere: Bool {
        #if Zoo
            if PlantedMistake.threadUnchecked.isPlanted { return true }
        #endif
        switch self {
        case .thread(let thread): return thread == CallingContext.thread
        case .main: return Self.isOnMain
        case .queue(_, let mark): return DispatchQueue.getSpecific(key: QueueMark.key) == mark
        case .actor(let place): return place.isHere
        case .none: return true
        }
    }

    private static var isOnMain: Bool {
        if CallingContext.isFirstThread { return true }
        _ = QueueMark.main
        return DispatchQueue.getSpecific(key: QueueMark.key) == QueueMark.main
    }

    /// Identifies the thread, queue or actor.
    var identity: Identity {
        switch self {
        case .thread(let thread): return .thread(thread)
        case .main: return .main
        case .queue(_, let mark): return .queue(mark)
        case .actor(let place): return .actor(place.identity)
        case .none: return .thread(0)
        }
    }

    enum Identity: Hashable, Sendable {
        case thread(UInt64), main, queue(UInt64), actor(ObjectIdentifier)
    }

    /// Runs work there, asynchronously. Nil for a thread that the program made, and for a frozen Realm.
    var scheduler: (@Sendable (@escaping @Sendable () -> Void) -> Void)? {
        switch self {
        case .thread, .none: return nil
        // Not through the main queue: on Linux the runtime does not treat its code as running on the main actor.
        case .main: return { work in Task { @MainActor in work() } }
        case .queue(let queue, _): return { work in queue.async(execute: work) }
        case .actor(let place): return { work in place.run(work) }
        }
    }

    var description: String {
        switch self {
        case .thread: return "the thread that opened it"
        case .main: return "the main thread"
        case .queue(let queue, _): return "the queue '\(queue.label)'"
        case .actor(let place): return "the actor \(place.name)"
        case .none: return "any thread"
        }
    }
}

/// Marks queues with numbers, so that code can tell on which queue it runs.
private enum QueueMark {
    static let key = DispatchSpecificKey<UInt64>()
    private static let queues = Mutex<[UInt64: WeakQueue]>([:])
    private static let last = Atomic<UInt64>(1)

    private struct WeakQueue { weak var queue: DispatchQueue? }

    /// The number of the main queue, which is marked at the first use.
    static let main: UInt64 = {
        DispatchQueue.main.setSpecific(key: key, value: 1)
        return 1
    }()

    /// The number of a queue, which never changes. Marks the queue with it at first.
    static func mark(_ queue: DispatchQueue) -> UInt64 {
        queues.withLock { queues in
            if let known = queue.getSpecific(key: key) { return known }
            queues = queues.filter { $0.value.queue != nil }
            let number = last.add(1, ordering: .relaxed).newValue
            queue.setSpecific(key: key, value: number)
            queues[number] = WeakQueue(queue: queue)
            return number
        }
    }

    static func queue(_ number: UInt64) -> DispatchQueue? { queues.withLock { $0[number]?.queue } }
}

/// An actor, held weakly by the Realms that belong to it.
final class ActorPlace: Sendable {
    let identity: ObjectIdentifier
    let name: String
    private let executor: UnownedSerialExecutor
    private let actor: Mutex<WeakActor>

    private struct WeakActor { weak var actor: (any Actor)? }

    init(_ actor: any Actor) {
        identity = ObjectIdentifier(actor)
        name = "\(type(of: actor))"
        executor = actor.unownedExecutor
        let reference = WeakActor(actor: actor)
        self.actor = Mutex(reference)
    }

    private var current: (any Actor)? { actor.withLock { $0.actor } }

    var isHere: Bool { current != nil && CallingContext.isRunning(on: executor) }

    func run(_ work: @escaping @Sendable () -> Void) {
        guard let actor = current else { return }
        Task { await Self.run(on: actor, work) }
    }

    private static func run(on actor: isolated any Actor, _ work: @Sendable () -> Void) { work() }
}
