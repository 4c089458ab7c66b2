import Dispatch
import Foundation
import Platform
import Strata
import Testing

/// Large collections that two processes change concurrently; one of them repeatedly dies in the middle of a write. The
/// file has full durability, since without a log a dead process's visible commits would be lost.
@Suite struct SharedCollectionTests {
    /// The contents of the shelf, as the last committing process recorded them.
    final class Ledger: Object {
        @Persisted var commits = 0
        @Persisted var fingerprint = ""
    }

    private static let types = LargeCollectionHistory.types + [Ledger.self]

    /// How often the other process is started; it dies in a write in each start but the last.
    private static let rounds =
        ProcessInfo.processInfo.environment["SHARED_COLLECTION_ROUNDS"].flatMap { Int($0) } ?? 3

    /// One of the two processes: it makes changes, and compares the contents with the other one's record.
    private final class Writer {
        let realm: Realm
        let shelf: Shelf
        let ledger: Ledger
        private var history: LargeCollectionHistory
        private let numbers = CollectionMirror<Int>()
        private let labels = CollectionMirror<String>()
        private var topics: [String: String?] = [:]
        private var topicsToken: NotificationToken?
        private let notes: LiveMirror<List<Note>>
        /// The number of the other process's commits that this one saw.
        private(set) var foreign = 0

        init(_ path: String, maker: String, seed: UInt64) throws {
            let configuration = Realm.Configuration(
                fileURL: URL(fileURLWithPath: path), objectTypes: SharedCollectionTests.types)
            let realm = try Realm(configuration: configuration)
            var history = LargeCollectionHistory(seed)
            history.maker = maker
            if realm.objects(Shelf.self).isEmpty {
                let (shelf, ledger) = (Shelf(), Ledger())
                try realm.write {
                    realm.add(shelf)
                    realm.add(ledger)
                    history.fill(shelf)
                    ledger.fingerprint = history.model.fingerprint
                }
            }
            shelf = try #require(realm.objects(Shelf.self).first)
            ledger = try #require(realm.objects(Ledger.self).first)
            self.realm = realm
            self.history = history
            notes = LiveMirror("notes", shelf.notes, keyPaths: nil) { "\($0.text) \($0.rank)" }
            numbers.token = shelf.numbers.observe { [numbers] in numbers.take($0) }
            labels.token = shelf.labels.observe { [labels] in labels.take($0) }
            topics = ShelfModel(shelf).topics
            topicsToken = shelf.topics.observe { [unowned self] change in
                guard case .update(let now, let deletions, let insertions, let modifications) = change else { return }
                for key in deletions { topics[key] = nil }
                for key in insertions + modifications { topics[key] = .some(now[key].flatMap { $0?.text }) }
            }
        }

        /// Reads the contents, and compares them with the writer's record and with the observers' mirrors.
        private func compare(_ place: Comment) throws {
            let model = ShelfModel(shelf)
            try #require(model.fingerprint == ledger.fingerprint, place)
            let isTold = (
                numbers.elements == model.numbers, Set(labels.elements) == model.labels, topics == model.topics
            )
            try #require(isTold.0 && isTold.1 && isTold.2, place)
            notes.check()
            try #require(notes.failures == [], place)
            history.model = model
        }

        /// Waits up to a minute for a commit of the other process, unless this one has already seen one.
        /// - Returns: whether the other process has committed.
        func meetsTheOther() -> Bool {
            let known = ledger.commits
            for _ in 0..<6000 where foreign == 0 && ledger.commits == known {
                usleep(10_000)
                realm.refresh()
            }
            return foreign > 0 || ledger.commits > known
        }

        /// A transaction of up to forty changes; with `dying`, the process ends in its middle.
        func transaction(dying: Bool = false, _ place: Comment) throws {
            let known = ledger.commits
            realm.beginWrite()
            foreign += ledger.commits - known
            try compare(place)
            for _ in 0..<(1 + history.below(40)) { history.step(shelf, realm) }
            if dying { kill(getpid(), SIGKILL) }
            ledger.commits += 1
            ledger.fingerprint = history.model.fingerprint
            try realm.commitWrite()
            try compare(place)
        }
    }

    @Test(
        "two processes change the same large collections, and each sees the other's changes",
        arguments: [UInt64.random(in: 1...1_000_000)])
    func twoProcesses(seed: UInt64) async throws {
        let file = TemporaryFile()
        let path = file.url.path
        let foreign = Locked(0)
        let ownCommits = Locked(0)
        let isOver = Locked(false)
        let failure = Locked<(any Error)?>(nil)
        let (isReady, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            do {
                let writer = try Writer(path, maker: "here", seed: seed)
                isReady.signal()
                while !isOver.current {
                    try writer.transaction("here, transaction \(ownCommits.current), seed \(seed)")
                    ownCommits.with { $0 += 1 }
                    // Most of a transaction is comparing: without a pause this thread takes a core as long as the
                    // other process runs.
                    usleep(200_000)
                }
                // This transaction sees the last commit of the other process.
                try writer.transaction("here, the last transaction, seed \(seed)")
                try writer.realm.store.checkInvariants()
                foreign.with { $0 = writer.foreign }
                #expect(writer.ledger.commits == ownCommits.current + 1 + writer.foreign)
            } catch {
                failure.with { $0 = error }
                isReady.signal()
            }
            hasEnded.signal()
        }
        thread.start()
        await Self.wait(isReady)
        for round in 1...Self.rounds where failure.current == nil {
            let isLast = round == Self.rounds
            let start = seed &* 1_000_003 &+ UInt64(round)
            await #expect(processExitsWith: isLast ? .success : .signal(SIGKILL)) {
                [path = path as String, start = start as UInt64, isLast = isLast as Bool] in
                let writer = try Writer(path, maker: "there \(start)", seed: start)
                for turn in 0..<8 { try writer.transaction("there, turn \(turn), seed \(start)") }
                #expect(writer.meetsTheOther(), "no other process committed beside \(start)")
                if !isLast { try writer.transaction(dying: true, "there, seed \(start)") }
            }
        }
        isOver.with { $0 = true }
        await Self.wait(hasEnded)
        if let error = failure.current { throw error }
        #expect(foreign.current == 8 * Self.rounds)
        withExtendedLifetime(file) {}
    }

    private static func wait(_ semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }
}
