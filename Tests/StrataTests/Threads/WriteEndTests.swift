import Dispatch
import Foundation
import Strata
import Testing

/// How uncommitted writes end, and what becomes of references to objects that they made.
@Suite struct WriteEndTests {
    @Test("a Realm released inside a write rolls it back and frees the write lock")
    func releasedInsideAWrite() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Note.self])
        let done = DispatchSemaphore(value: 0)
        let counts = Locked<[Int]>([])
        Thread {
            for _ in 0..<3 {
                do {
                    let realm = try Realm(configuration: configuration)
                    realm.beginWrite()
                    realm.add(Note("left behind"))
                } catch { Issue.record(error) }
            }
            do {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Note("kept")) }
                counts.with { $0.append(realm.objects(Note.self).count) }
            } catch { Issue.record(error) }
            done.signal()
        }.start()
        #expect(done.wait(timeout: .now() + 300) == .success, "the Realm waits for its own write")
        #expect(counts.current == [1])
        withExtendedLifetime(file) {}
    }

    private actor Desk {
        private var realm: Realm?

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm.open(configuration: configuration)
        }

        var isBusy: Bool { realm?.isPerformingAsynchronousWriteOperations ?? false }
        var texts: [String] { realm.map { $0.objects(Note.self).map(\.text) } ?? [] }

        func add(_ text: String) async throws {
            guard let realm else { throw Realm.Error(.fail, "not open") }
            try await realm.asyncWrite {
                #expect(realm.isPerformingAsynchronousWriteOperations)
                realm.add(Note(text))
            }
        }

        func close() { realm = nil }
    }

    @Test("a task cancelled while it waits for its turn leaves the queue at once")
    func cancelledTask() async throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Note.self])
        let desk = Desk()
        try await desk.open(configuration)
        let isHeld = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let holder = Thread {
            do {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    isHeld.signal()
                    release.wait()
                }
            } catch { Issue.record(error) }
        }
        holder.start()
        await Task.detached { Self.wait(isHeld) }.value
        let first = Task { try await desk.add("cancelled") }
        let second = Task { try await desk.add("kept") }
        while await !desk.isBusy { await Task.yield() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let early = Task { try await desk.add("never asked for") }
        early.cancel()
        await #expect(throws: CancellationError.self) { try await early.value }
        release.signal()
        try await second.value
        #expect(await desk.texts == ["kept"])
        while await desk.isBusy { await Task.yield() }
        try await desk.add("later")
        #expect(await desk.texts == ["kept", "later"])
        await desk.close()
        withExtendedLifetime(file) {}
    }

    private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("a reference made inside a write resolves to its object once it is committed")
    func referenceInsideAWrite() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Note.self])
        let realm = try Realm(configuration: configuration)
        func seen(_ reference: ThreadSafeReference<Note>) -> String {
            let seen = Locked("")
            OtherThread.run {
                let found = (try? Realm(configuration: configuration))?.resolve(reference)?.text
                seen.with { $0 = found ?? "nil" }
            }
            return seen.current
        }
        realm.beginWrite()
        let first = realm.create(Note.self, value: ["text": "first"])
        let own = ThreadSafeReference(to: first)
        #expect(realm.resolve(own)?.text == "first" && realm.resolve(own) == nil)
        let early = ThreadSafeReference(to: first)
        #expect(seen(early) == "nil")
        let late = ThreadSafeReference(to: first)
        try realm.commitWrite()
        #expect(seen(late) == "first")

        realm.beginWrite()
        let lost = ThreadSafeReference(to: realm.create(Note.self, value: ["text": "lost"]))
        realm.cancelWrite()
        // The same key, created in a version of the same number.
        try realm.write { _ = realm.create(Note.self, value: ["text": "another"]) }
        #expect(seen(lost) == "nil")
        withExtendedLifetime(file) {}
    }

    @Test("an empty token can be made, and a token tells whether it has an observer")
    func emptyToken() throws {
        #expect(!NotificationToken().invalidate())
        let realm = try makeRealm([Note.self])
        var token = NotificationToken()
        token = realm.objects(Note.self).observe { _ in }
        #expect(token.invalidate() && !token.invalidate())
    }
}
