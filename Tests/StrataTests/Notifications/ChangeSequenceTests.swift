import Dispatch
import Strata
import Testing

/// Changes as asynchronous sequences, and observers on actors.
@Suite struct ChangeSequenceTests {
    @Test("results.changes: first the initial state, then each change since the one before, frozen")
    @MainActor func resultsChanges() async throws {
        let realm = try makeRealm([Note.self])
        try realm.write { realm.add(Note("a")) }
        let changes = realm.objects(Note.self).sorted(byKeyPath: "text").changes
        var seen: [String] = []
        for await change in changes {
            switch change {
            case .initial(let notes):
                seen.append("initial \(notes.map(\.text)) \(notes.isFrozen)")
                try realm.write { realm.add(Note("c")) }
                try realm.write { realm.add(Note("b")) }
            case .update(let notes, let deletions, let insertions, let modifications):
                seen.append("\(notes.map(\.text)) \(deletions) \(insertions) \(modifications)")
                if notes.count == 3 { try realm.write { realm.delete(realm.objects(Note.self)[0]) } }
            case .error(let error): Issue.record(error)
            }
            if seen.count == 3 { break }
        }
        #expect(
            seen == [
                "initial [\"a\"] true", "[\"a\", \"b\", \"c\"] [] [1, 2] []", "[\"b\", \"c\"] [0] [] []",
            ])
    }

    @Test("object.changes: ends with the object")
    @MainActor func objectChanges() async throws {
        let realm = try makeRealm([Note.self])
        let note = Note("a")
        try realm.write { realm.add(note) }
        let sequence = note.changes
        var iterator = sequence.makeAsyncIterator()
        let isTold = Locked(false)
        let first = Task { @MainActor in
            // The sequence starts on its own thread at its first request. Earlier writes are not delivered, so the test
            // writes until one is.
            var number = 0
            repeat {
                number += 1
                try realm.write { note.text = "b\(number)" }
                try await Task.sleep(for: .milliseconds(5))
            } while !isTold.current
        }
        guard case .change(let frozen, let properties)? = await iterator.next() else {
            Issue.record("no change")
            return
        }
        isTold.with { $0 = true }
        #expect(frozen.isFrozen && frozen.text.hasPrefix("b"))
        #expect(properties.map(\.name) == ["text"])
        try await first.value
        try realm.write { realm.delete(note) }
        guard case .deleted? = await iterator.next() else {
            Issue.record("not deleted")
            return
        }
        #expect(await iterator.next() == nil)
    }

    @Test("realm.changes: the newest version each time, until the task is cancelled")
    func realmChanges() async throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        let changes = realm.changes
        let counts = Locked<[Int]>([])
        let begun = Locked(false)
        let follower = Task {
            for await version in changes {
                counts.with { $0.append(version.objects(Note.self).count) }
                begun.with { $0 = true }
            }
        }
        while !begun.current {
            OtherThread.run {
                let other = try? Realm(configuration: configuration)
                try? other?.write { other?.add(Note("a")) }
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        follower.cancel()
        await follower.value
        #expect(counts.current == counts.current.sorted() && (counts.current.first ?? 0) > 0)
        withExtendedLifetime(realm) {}
    }

    actor Screen {
        private(set) var seen: [String] = []
        private var tokens: [NotificationToken] = []
        private var waiting: CheckedContinuation<Void, Never>?

        func keep(_ token: NotificationToken) { tokens.append(token) }

        func note(_ text: String) {
            seen.append(text)
            waiting?.resume()
            waiting = nil
        }

        func wait(for count: Int) async {
            while seen.count < count { await withCheckedContinuation { waiting = $0 } }
        }
    }

    @Test("observe(on: actor): first the initial state, then changes, on the actor")
    @MainActor func actorObserver() async throws {
        let realm = try makeRealm([Note.self])
        let note = Note("a")
        try realm.write { realm.add(note) }
        let screen = Screen()
        let token = await realm.objects(Note.self).observe(on: screen) { screen, change in
            switch change {
            case .initial(let notes): screen.note("initial \(notes.count)")
            case .update(let notes, _, let insertions, _): screen.note("\(insertions) of \(notes.count)")
            case .error: screen.note("error")
            }
        }
        #expect(await screen.seen == ["initial 1"])
        await screen.keep(token)
        let objects = await note.observe(on: screen) { screen, change in
            if case .change(_, let properties) = change { screen.note(properties.map(\.name).joined()) }
        }
        await screen.keep(objects)
        try realm.write { realm.add(Note("b")) }
        await screen.wait(for: 2)
        try realm.write { note.text = "changed" }
        await screen.wait(for: 4)
        let seen = await screen.seen
        #expect(seen[1] == "[1] of 2")
        #expect(seen.contains("text"))
    }

    @Test("observe(on: MainActor): the main actor is notified of other threads' commits, on any thread")
    @MainActor func mainActorObserver() async throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        let counts = Locked<[Int]>([])
        let token = await realm.objects(Note.self).observe(on: MainActor.shared) { _, change in
            switch change {
            case .initial(let notes): counts.with { $0.append(notes.count) }
            case .update(let notes, _, _, _): counts.with { $0.append(notes.count) }
            case .error: counts.with { $0.append(-1) }
            }
        }
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { other?.add(Note("a")) }
        }
        while counts.current.last != 1 { await Task.yield() }
        #expect(counts.current == [0, 1])
        #expect(realm.objects(Note.self).count == 1)
        token.invalidate()
    }
}
