import Dispatch
import Foundation
import Strata
import Testing

/// Writes that wait for the lock and for the disk without blocking.
@Suite struct AsyncWriteTests {
    actor Library {
        var realm: Realm?
        private var tokens: [NotificationToken] = []
        private(set) var seen: [String] = []

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm.open(configuration: configuration)
        }

        func require() throws -> Realm {
            guard let realm else { throw Realm.Error(.fail, "not open") }
            return realm
        }

        func add(_ text: String) async throws -> Int {
            let realm = try require()
            return try await realm.asyncWrite {
                realm.add(Note(text))
                return realm.objects(Note.self).count
            }
        }

        func fail() async throws {
            let realm = try require()
            try await realm.asyncWrite {
                realm.add(Note("lost"))
                throw Realm.Error(.fail, "thrown in the block")
            }
        }

        func texts() throws -> [String] { try require().objects(Note.self).map(\.text) }

        func follow() throws {
            tokens.append(
                try require().objects(Note.self).observe { change in
                    guard case .update(_, _, let insertions, _) = change else { return }
                    self.assumeIsolated { $0.seen.append("\(insertions)") }
                })
        }

        func close() {
            tokens = []
            realm = nil
        }
    }

    @Test("Realm.open, asyncWrite: an actor's Realm, written to by many tasks in turn")
    func actorWrites() async throws {
        let file = TemporaryFile()
        defer { withExtendedLifetime(file) {} }
        let library = Library()
        try await library.open(file.configuration([Note.self]))
        try await library.follow()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { _ = try await library.add("note \(number)") } }
            try await group.waitForAll()
        }
        #expect(try await library.texts().count == 20)
        #expect(await library.seen.count <= 20)
        await #expect(throws: Realm.Error.self) { try await library.fail() }
        #expect(try await library.texts().count == 20)
        await library.close()
    }

    private actor Hasty {
        let realm: Realm
        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm.open(configuration: configuration)
        }
    }

    @Test("Realm.open outside of an actor is an error that names the alternative")
    func openOutsideOfAnActor() async throws {
        let file = TemporaryFile()
        defer { withExtendedLifetime(file) {} }
        let error = await #expect(throws: Realm.Error.self) { _ = try await Hasty(file.configuration([Note.self])) }
        #expect(error?.message.contains("Realm(configuration:actor:)") == true)
    }

    /// A Realm that lives on a queue.
    private final class OnQueue: Sendable {
        let queue = DispatchQueue(label: "writes")
        private let realm: Locked<Realm?>

        init(_ configuration: Realm.Configuration) throws {
            let opened = Locked<Result<Realm, any Error>?>(nil)
            let queue = queue
            queue.sync {
                let made = Result { try Realm(configuration: configuration, queue: queue) }
                opened.with { $0 = made }
            }
            realm = Locked(try opened.current?.get())
        }

        func run(_ body: (Realm) -> Void) { queue.sync { realm.current.map(body) } }
        func close() { queue.sync { realm.with { $0 = nil } } }
    }

    @Test("writeAsync, beginAsyncWrite: first come, first served; a block that does not commit changes nothing")
    func order() throws {
        let place = try OnQueue(makeRealm([Note.self]).configuration)
        let seen = Locked<[String]>([])
        let done = DispatchSemaphore(value: 0)
        place.run { realm in
            for number in 0..<4 {
                realm.writeAsync {
                    seen.with { $0.append("block \(number)") }
                    realm.add(Note("n\(number)"))
                } onComplete: { error in
                    seen.with { $0.append("done \(number) \(error == nil)") }
                }
            }
            realm.beginAsyncWrite { realm.add(Note("never committed")) }
            realm.beginAsyncWrite {
                realm.add(Note("last"))
                #expect(realm.objects(Note.self).count == 5)
                realm.commitAsyncWrite { _ in done.signal() }
                #expect(realm.objects(Note.self).count == 5)
            }
            #expect(realm.isPerformingAsynchronousWriteOperations)
            #expect(!realm.isInWriteTransaction)
        }
        done.wait()
        place.run { realm in
            #expect(realm.objects(Note.self).map(\.text) == ["n0", "n1", "n2", "n3", "last"])
            #expect(!realm.isPerformingAsynchronousWriteOperations)
        }
        let blocks = seen.current.filter { $0.hasPrefix("block") }
        let ends = seen.current.filter { $0.hasPrefix("done") }
        #expect(blocks == (0..<4).map { "block \($0)" })
        #expect(ends == (0..<4).map { "done \($0) true" })
        place.close()
    }

    @Test("cancelAsyncWrite: before its turn nothing runs; inside, cancelWrite takes only that write back")
    func cancel() throws {
        let place = try OnQueue(makeRealm([Note.self]).configuration)
        let seen = Locked<[String]>([])
        let done = DispatchSemaphore(value: 0)
        place.run { realm in
            realm.beginAsyncWrite {
                realm.add(Note("first"))
                realm.commitAsyncWrite(allowGrouping: true) {
                    seen.with { $0.append("first") }; _ = $0
                }
            }
            let second = realm.beginAsyncWrite { seen.with { $0.append("second runs") } }
            realm.beginAsyncWrite {
                realm.add(Note("third"))
                realm.cancelWrite()
            }
            realm.writeAsync {
                realm.add(Note("fourth"))
            } onComplete: { _ in
                done.signal()
            }
            try? realm.cancelAsyncWrite(second)
            #expect(throws: Realm.Error.self) { try realm.cancelAsyncWrite(second + 1000) }
        }
        done.wait()
        place.run { realm in #expect(realm.objects(Note.self).map(\.text) == ["first", "fourth"]) }
        #expect(seen.current == ["first"])
        place.close()
    }

    @Test("commitAsyncWrite: grouped commits, and a write that fails among them")
    func groups() throws {
        let file = TemporaryFile()
        defer { withExtendedLifetime(file) {} }
        var configuration = file.configuration([Note.self])
        configuration.durability = .full
        let place = try OnQueue(configuration)
        let completions = Locked<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        place.run { realm in
            for number in 0..<3 { try? realm.write { realm.add(Note("\(number)")) } }
            for number in 0..<30 {
                realm.beginAsyncWrite {
                    realm.add(Note("grouped \(number)"))
                    if number == 11 { return realm.cancelWrite() }
                    realm.commitAsyncWrite(allowGrouping: number != 20) { error in
                        completions.with { $0.append(error == nil ? number : -1) }
                        if number == 29 { done.signal() }
                    }
                }
            }
        }
        done.wait()
        #expect(completions.current == (0..<30).filter { $0 != 11 })
        place.run { realm in #expect(realm.objects(Note.self).count == 32) }
        place.close()
        let again = try Realm(configuration: configuration)
        #expect(again.objects(Note.self).count == 32)
    }

    @Test("async-write: a blocking write in between neither waits for ever nor takes a turn")
    func blockingBetween() throws {
        let place = try OnQueue(makeRealm([Note.self]).configuration)
        let done = DispatchSemaphore(value: 0)
        for round in 0..<20 {
            place.run { realm in
                realm.writeAsync {
                    realm.add(Note("async \(round)"))
                } onComplete: { error in
                    #expect(error == nil)
                    done.signal()
                }
                #expect(throws: Never.self) { try realm.write { realm.add(Note("blocking \(round)")) } }
            }
        }
        for _ in 0..<20 { done.wait() }
        place.run { realm in #expect(realm.objects(Note.self).count == 40) }
        place.close()
    }

    @Test("async-write: releasing the Realm while writes wait loses none of them")
    func closeWhilePending() throws {
        let file = TemporaryFile()
        defer { withExtendedLifetime(file) {} }
        let configuration = file.configuration([Note.self])
        let done = DispatchSemaphore(value: 0)
        do {
            let place = try OnQueue(configuration)
            place.run { realm in
                for number in 0..<5 {
                    realm.writeAsync {
                        realm.add(Note("\(number)"))
                    } onComplete: { _ in
                        done.signal()
                    }
                }
            }
            place.close()
        }
        for _ in 0..<5 { done.wait() }
        let again = try Realm(configuration: configuration)
        #expect(again.objects(Note.self).count == 5)
    }

    @Test("a failed write is rolled back, and its completion gets the error")
    func failedWrite() throws {
        let place = try OnQueue(makeRealm([Counter.self]).configuration)
        let codes = Locked<[Realm.Error.Code?]>([])
        let done = DispatchSemaphore(value: 0)
        place.run { realm in
            try? realm.write { realm.add(Counter(1)) }
            realm.writeAsync {
                realm.add(Counter(1))
            } onComplete: { error in
                codes.with { $0.append((error as? Realm.Error)?.code) }
                done.signal()
            }
        }
        done.wait()
        #expect(codes.current == [.duplicateKey])
        place.close()
    }

    @Test("asynchronous writes of a plain thread's Realm are refused with a remedy")
    func plainThread() async throws {
        let realm = Locked<Realm.Error?>(nil)
        OtherThread.run {
            guard let opened = try? makeRealm([Note.self]) else { return }
            opened.writeAsync {
            } onComplete: { error in
                realm.with { $0 = error as? Realm.Error }
            }
        }
        #expect(realm.current?.code == .wrongState)
        #expect(realm.current?.message.contains("queue:") == true)
    }

    @Test("asyncRefresh: shows what another thread committed")
    @MainActor func asyncRefresh() async throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        realm.autorefresh = false
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { other?.add(Note("other")) }
        }
        #expect(realm.objects(Note.self).isEmpty)
        #expect(await realm.asyncRefresh())
        #expect(realm.objects(Note.self).count == 1)
        #expect(await !realm.asyncRefresh())
    }
}
