import Dispatch
import Foundation
import Strata
import Testing

/// When and in which order observers are notified, and what they may do.
@Suite struct NotificationRuleTests {
    private func results(_ realm: Realm) -> Results<Note> { realm.objects(Note.self) }

    @Test("write-in-callback: a write in a notification is delivered to all observers in one order")
    func writeInCallback() throws {
        let realm = try makeRealm([Note.self])
        var seen: [String] = []
        let first = results(realm).observe { change in
            guard case .update(let notes, _, let insertions, _) = change else { return }
            seen.append("first \(insertions.count) of \(notes.count)")
            if notes.count == 1 { try? realm.write { realm.add(Note("from first")) } }
            seen.append("first done")
        }
        let second = results(realm).observe { change in
            guard case .update(let notes, _, let insertions, _) = change else { return }
            seen.append("second \(insertions.count) of \(notes.count)")
        }
        try realm.write { realm.add(Note("a")) }
        // The write in the notification begins when all observers were notified; its own observer is notified last.
        #expect(
            seen == [
                "first 1 of 1", "second 1 of 1", "second 1 of 2", "first done", "first 1 of 2", "first done",
            ])
        withExtendedLifetime((first, second)) {}
    }

    @Test("write-in-callback: a write inside a write throws and leaves the outer one unchanged")
    func nestedWrite() throws {
        let realm = try makeRealm([Note.self])
        try realm.write {
            realm.add(Note("a"))
            #expect(throws: Realm.Error.self) { try realm.write {} }
            #expect(realm.isInWriteTransaction)
        }
        #expect(results(realm).count == 1)
    }

    @Test("write-in-callback: observe inside a write works before the first change; after it the write fails")
    func observeInWrite() throws {
        let realm = try makeRealm([Note.self])
        try realm.write { realm.add(Note("a")) }
        var seen: [String] = []
        var token: NotificationToken?
        try realm.write {
            token = results(realm).observe { change in
                switch change {
                case .initial(let notes): seen.append("initial \(notes.count)")
                case .update(_, _, let insertions, _): seen.append("update \(insertions)")
                case .error: seen.append("error")
                }
            }
            realm.add(Note("b"))
        }
        #expect(seen == ["initial 1", "update [1]"])
        let thrown = #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.add(Note("c"))
                token = results(realm).observe { _ in seen.append("never") }
            }
        }
        #expect(thrown?.code == .wrongState)
        #expect(results(realm).count == 2)
        try realm.write { realm.add(Note("d")) }
        #expect(!seen.contains("never"))
        withExtendedLifetime(token) {}
    }

    @Test("observer-in-callback: observers added and removed in notifications, tokens released inside")
    func observersInCallbacks() throws {
        let realm = try makeRealm([Note.self])
        var seen: [String] = []
        var inner: NotificationToken?
        var second: NotificationToken?
        var first: NotificationToken?
        first = results(realm).observe { change in
            guard case .update = change else { return }
            seen.append("first")
            // Releases its own token and the next observer's.
            first = nil
            second = nil
            inner = results(realm).observe { change in
                switch change {
                case .initial(let notes): seen.append("inner initial \(notes.count)")
                case .update(_, _, let insertions, _): seen.append("inner \(insertions)")
                case .error: seen.append("error")
                }
            }
        }
        second = results(realm).observe { if case .update = $0 { seen.append("second") } }
        try realm.write { realm.add(Note("a")) }
        #expect(seen == ["first", "inner initial 1"])
        try realm.write { realm.add(Note("b")) }
        #expect(seen == ["first", "inner initial 1", "inner [1]"])
        withExtendedLifetime((first, second, inner)) {}
    }

    @Test("observer-in-callback: a write in .initial is delivered after it")
    func writeInInitial() throws {
        let realm = try makeRealm([Note.self])
        var seen: [String] = []
        let token = results(realm).observe { change in
            switch change {
            case .initial(let notes):
                seen.append("initial \(notes.count)")
                try? realm.write { realm.add(Note("a")) }
                seen.append("initial done")
            case .update(_, _, let insertions, _): seen.append("update \(insertions)")
            case .error: seen.append("error")
            }
        }
        #expect(seen == ["initial 0", "initial done", "update [0]"])
        token.invalidate()
        token.invalidate()
        try realm.write { realm.add(Note("b")) }
        #expect(seen.count == 3)
    }

    @Test("without-notifying: only that commit is skipped, not another thread's earlier one")
    func withoutNotifying() throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        var seen: [String] = []
        let token = results(realm).observe { change in
            if case .update(let notes, _, let insertions, _) = change { seen.append("\(insertions) of \(notes.count)") }
        }
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { other?.add(Note("other")) }
        }
        try realm.write(withoutNotifying: [token]) { realm.add(Note("mine")) }
        #expect(seen == ["[0] of 1"])
        try realm.write { realm.add(Note("more")) }
        #expect(seen == ["[0] of 1", "[2] of 3"])
        realm.beginWrite()
        realm.add(Note("silent"))
        try realm.commitWrite(withoutNotifying: [token])
        #expect(seen.count == 2)
    }

    @Test("commit-in-notification: a commit is durable though its notification invalidates the Realm")
    func commitInNotification() throws {
        let file = TemporaryFile()
        defer { withExtendedLifetime(file) {} }
        let configuration = file.configuration([Note.self])
        do {
            let realm = try Realm(configuration: configuration)
            var updates = 0
            let token = results(realm).observe { change in
                guard case .update = change else { return }
                updates += 1
                if updates == 1 {
                    try? realm.write { realm.add(Note("inside")) }
                    realm.invalidate()
                }
            }
            try realm.write { realm.add(Note("a")) }
            realm.refresh()
            #expect(results(realm).count == 2)
            #expect(updates == 2)
            token.invalidate()
        }
        let again = try Realm(configuration: configuration)
        #expect(again.objects(Note.self).count == 2)
    }

    @Test("missed-notification: every change is delivered once, and commits that cancel out deliver nothing")
    func coalescing() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<5 { realm.add(Counter(id, "c")) } }
        let configuration = realm.configuration
        var seen: [String] = []
        let token = realm.objects(Counter.self).observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                seen.append("\(deletions) \(insertions) \(modifications)")
            }
        }
        OtherThread.run {
            guard let other = try? Realm(configuration: configuration) else { return }
            for name in ["x", "y", "c"] { try? other.write { other.objects(Counter.self)[1].name = name } }
            try? other.write { other.objects(Counter.self)[2].name = "changed" }
            try? other.write { other.add(Counter(9, "short")) }
            try? other.write {
                if let nine = other.object(ofType: Counter.self, forPrimaryKey: 9) { other.delete(nine) }
            }
            try? other.write { other.delete(other.objects(Counter.self)[4]) }
        }
        #expect(seen == [])
        #expect(realm.refresh())
        #expect(!realm.refresh())
        #expect(seen == ["[4] [] [2]"])
        try realm.write { realm.objects(Counter.self)[0].name = "c" }
        #expect(seen.count == 1, "writing an equal value is no change")
        token.invalidate()
    }

    @Test("deleted-before-first-notify: one final event, on a queue and for a list")
    func deletedBeforeFirst() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a")
        let dog = LiveDog("d")
        try realm.write {
            realm.add(person)
            person.dogs.append(dog)
        }
        let queue = DispatchQueue(label: "observer")
        let seen = Locked<[String]>([])
        queue.suspend()
        let tokens = [
            person.observe(on: queue) { change in
                if case .deleted = change { seen.with { $0.append("deleted") } } else { seen.with { $0.append("?") } }
            },
            person.dogs.observe(on: queue) { change in
                if case .initial(let dogs) = change {
                    seen.with { $0.append("dogs \(dogs.count) \(dogs.isInvalidated)") }
                } else {
                    seen.with { $0.append("?") }
                }
            },
        ]
        try realm.write { realm.delete(person) }
        queue.resume()
        queue.sync {}
        try realm.write { realm.add(LivePerson(1, "again")) }
        queue.sync {}
        #expect(seen.current == ["deleted", "dogs 0 true"])
        tokens.forEach { $0.invalidate() }
    }

    @Test("observer-of-deleted: .deleted once; the list of a deleted owner ends with an update that empties it")
    func observerOfDeleted() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a")
        try realm.write {
            realm.add(person)
            person.dogs.append(LiveDog("d"))
            person.tags.insert("t")
            person.pets["p"] = .some(person.dogs[0])
        }
        var seen: [String] = []
        let tokens = [
            person.observe { if case .deleted = $0 { seen.append("deleted") } else { seen.append("?") } },
            person.dogs.observe {
                if case .update(let now, let gone, _, _) = $0 { seen.append("\(gone) \(now.count)") }
            },
            person.tags.observe { if case .update(_, let gone, _, _) = $0 { seen.append("tags \(gone)") } },
            person.pets.observe { if case .update(_, let gone, _, _) = $0 { seen.append("pets \(gone)") } },
        ]
        try realm.write { realm.delete(person) }
        try realm.write { realm.add(LivePerson(1, "again")) }
        #expect(seen == ["deleted", "[0] 0", "tags [0]", "pets [\"p\"]"])
        tokens.forEach { $0.invalidate() }
    }

    @Test("recreate-same-key: deleting and inserting one key is a deletion and an insertion")
    func recreate() throws {
        let realm = try makeRealm(liveTypes)
        let people = realm.objects(LivePerson.self)
        let friend = LivePerson(2, "b")
        try realm.write {
            realm.add(friend)
            let person = LivePerson(1, "a")
            person.friend = friend
            realm.add(person)
        }
        var seen: [String] = []
        let tokens = [people, people.sorted(byKeyPath: "id")].map { results in
            results.observe { change in
                if case .update(_, let gone, let new, let changed) = change { seen.append("\(gone) \(new) \(changed)") }
            }
        }
        try realm.write {
            realm.delete(friend)
            let again = LivePerson(2, "b")
            realm.add(again)
            people[0].friend = again
        }
        #expect(friend.isInvalidated)
        #expect(seen == ["[1] [1] [0]", "[1] [1] [0]"])
        tokens.forEach { $0.invalidate() }
    }

    @Test("Object.observe: names, old and new values, links as objects, collections without")
    func propertyChanges() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a", age: 3)
        let (old, new) = (LiveDog("old"), LiveDog("new"))
        try realm.write {
            realm.add([old, new])
            person.best = old
            realm.add(person)
        }
        var seen: [String] = []
        let show: ([PropertyChange]) -> [String] = { changes in
            changes.map { change in
                let before = (change.oldValue as? LiveDog)?.name ?? change.oldValue.map { "\($0)" } ?? "nil"
                let after = (change.newValue as? LiveDog)?.name ?? change.newValue.map { "\($0)" } ?? "nil"
                return "\(change.name): \(before) -> \(after)"
            }
        }
        let all = person.observe { if case .change(_, let changes) = $0 { seen += show(changes) } }
        let some = person.observe(keyPaths: [\.age, \.best]) { change in
            if case .change(_, let changes) = change { seen += show(changes).map { "some " + $0 } }
        }
        let behind = person.observe(keyPaths: ["dogs.name"]) { change in
            if case .change(_, let changes) = change { seen += show(changes).map { "behind " + $0 } }
        }
        try realm.write {
            person.name = "b"
            person.best = new
            realm.delete(old)
            person.dogs.append(new)
        }
        #expect(
            seen == [
                "name: a -> b", "dogs: nil -> nil", "best: old -> new", "some best: old -> new",
                "behind dogs: nil -> nil",
            ])
        seen = []
        try realm.write { new.name = "newer" }
        #expect(seen == ["behind dogs: nil -> nil"])
        try realm.write { person.age = 3 }
        #expect(seen.count == 1)
        [all, some, behind].forEach { $0.invalidate() }
    }

    @Test("Map.observe: deleted and inserted keys, and those whose object changed")
    func mapChanges() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a")
        let dog = LiveDog("d")
        try realm.write {
            realm.add(person)
            person.pets["a"] = .some(dog)
            person.pets["b"] = .some(nil)
        }
        var seen: [String] = []
        let token = person.pets.observe { change in
            switch change {
            case .initial(let pets): seen.append("initial \(pets.keys)")
            case .update(_, let gone, let new, let changed): seen.append("\(gone) \(new) \(changed)")
            case .error: seen.append("error")
            }
        }
        try realm.write {
            person.pets.removeObject(for: "b")
            person.pets["c"] = .some(nil)
            dog.age = 4
        }
        try realm.write { person.name = "b" }
        #expect(seen == ["initial [\"a\", \"b\"]", "[\"b\"] [\"c\"] [\"a\"]"])
        token.invalidate()
    }

    @Test("Realm.observe: didChange for each shown version, refreshRequired without autorefresh")
    func realmNotifications() throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        let queue = DispatchQueue(label: "follower")
        let seen = Locked<[String]>([])
        let kept = Locked<(Realm, NotificationToken)?>(nil)
        let told = DispatchSemaphore(value: 0)
        try queue.sync {
            let follower = try Realm(configuration: configuration, queue: queue)
            follower.autorefresh = false
            let token = follower.observe { notification, _ in
                seen.with { $0.append(notification.rawValue) }
                told.signal()
            }
            kept.with { $0 = (follower, token) }
        }
        try realm.write { realm.add(Note("a")) }
        told.wait()
        queue.sync { _ = kept.current?.0.refresh() }
        #expect(
            seen.current == [
                Realm.Notification.refreshRequired.rawValue, Realm.Notification.didChange.rawValue,
            ])
        queue.sync { kept.with { $0 = nil } }
    }
}
