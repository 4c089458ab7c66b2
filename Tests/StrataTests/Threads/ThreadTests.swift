import Dispatch
import Foundation
import Seeds
import Strata
import Testing

/// Many threads on one file, and passing objects between threads.
@Suite struct ThreadTests {
    private func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let failure = Locked<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: count) { number in
            do { try body(number) } catch { failure.with { $0 = error } }
        }
        if let error = failure.current { throw error }
    }

    @Test("lost-update: every read-modify-write of every thread counts")
    func lostUpdate() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { realm.add(Counter(1)) }
        let configuration = realm.configuration
        try run(4) { _ in
            for _ in 0..<50 {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.object(ofType: Counter.self, forPrimaryKey: 1)?.count += 1 }
            }
        }
        realm.refresh()
        #expect(realm.object(ofType: Counter.self, forPrimaryKey: 1)?.count == 200)
    }

    @Test("bank-transfer: every reader sees the same sum")
    func bankTransfer() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<10 { realm.add(Counter(id, count: 100)) } }
        let configuration = realm.configuration
        try run(4) { thread in
            let realm = try Realm(configuration: configuration)
            let accounts = realm.objects(Counter.self)
            var generator = RandomStream(Seed(UInt64(thread)))
            for _ in 0..<60 {
                if thread < 2 {
                    try realm.write {
                        let amount = Int.random(in: 1...20, using: &generator)
                        accounts[Int.random(in: 0..<10, using: &generator)].count -= amount
                        accounts[Int.random(in: 0..<10, using: &generator)].count += amount
                    }
                } else {
                    realm.refresh()
                    let sum = accounts.reduce(0) { $0 + $1.count }
                    #expect(sum == 1000)
                    #expect(accounts.freeze().reduce(0) { $0 + $1.count } == 1000)
                }
            }
        }
    }

    @Test("writer-starvation: every thread gets the write lock in turn")
    func starvation() throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        try run(6) { thread in
            let realm = try Realm(configuration: configuration)
            for number in 0..<20 { try realm.write { realm.add(Note("\(thread) \(number)")) } }
        }
        realm.refresh()
        #expect(realm.objects(Note.self).count == 120)
    }

    @Test("write-blocked-by-notifier: observers of other threads block no write")
    func notifier() throws {
        let realm = try makeRealm([Note.self])
        let queue = DispatchQueue(label: "slow observer")
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let token = realm.objects(Note.self).observe(on: queue) { change in
            guard case .initial = change else { return }
            entered.signal()
            leave.wait()
        }
        entered.wait()
        for number in 0..<10 { try realm.write { realm.add(Note("\(number)")) } }
        #expect(realm.objects(Note.self).count == 10)
        leave.signal()
        token.invalidate()
        queue.sync {}
    }

    @Test("open-close-race: threads that open and close the same file")
    func openClose() throws {
        let file = TemporaryFile()
        defer { withExtendedLifetime(file) {} }
        let configuration = file.configuration([Counter.self])
        try run(4) { thread in
            for round in 0..<15 {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    realm.create(Counter.self, value: ["id": thread, "count": round], update: .modified)
                }
            }
        }
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Counter.self).map(\.count) == [14, 14, 14, 14])
    }

    @Test("thread-safe-reference: once, nil after a deletion, after a rollback, inside a write")
    func references() throws {
        let realm = try makeRealm(liveTypes)
        let configuration = realm.configuration
        let (kept, gone) = (LivePerson(1, "kept"), LivePerson(2, "gone"))
        try realm.write { realm.add([kept, gone]) }
        let toKept = ThreadSafeReference(to: kept)
        let toGone = ThreadSafeReference(to: gone)
        let toResults = ThreadSafeReference(to: realm.objects(LivePerson.self).where { $0.friend == kept })
        let toList = ThreadSafeReference(to: kept.dogs)
        try realm.write {
            realm.delete(gone)
            realm.add(LivePerson(2, "another"))
            realm.create(LivePerson.self, value: ["id": 3, "friend": kept])
            kept.dogs.append(LiveDog("d"))
        }
        realm.beginWrite()
        let born = LivePerson(9, "born")
        realm.add(born)
        let unborn = ThreadSafeReference(to: born)
        realm.cancelWrite()
        let seen = Locked<[String]>([])
        OtherThread.run {
            guard let other = try? Realm(configuration: configuration) else { return }
            try? other.write {
                let person = other.resolve(toKept)
                seen.with { $0.append(person?.name ?? "nil") }
                person?.name = "changed"
            }
            seen.with { $0.append(other.resolve(toKept)?.name ?? "nil") }
            seen.with { $0.append(other.resolve(toGone)?.name ?? "nil") }
            seen.with { $0.append(other.resolve(unborn)?.name ?? "nil") }
            seen.with { $0.append("\(other.resolve(toResults)?.map(\.id) ?? [])") }
            seen.with { $0.append("\(other.resolve(toList)?.map(\.name) ?? [])") }
        }
        #expect(seen.current == ["kept", "nil", "nil", "nil", "[3]", "[\"d\"]"])
        #expect(toKept.isInvalidated)
    }

    @Test("unresolved-reference: one to an object pins no version, one to results pins theirs")
    func unresolvedReference() throws {
        func fileBytes(_ keep: (Realm) -> Any) throws -> Int {
            let realm = try makeRealm([Note.self])
            try realm.write { for number in 0..<2000 { realm.add(Note("\(number)")) } }
            var kept: [Any] = []
            for round in 0..<30 {
                kept.append(keep(realm))
                try realm.write { for note in realm.objects(Note.self) { note.rank = round } }
            }
            return withExtendedLifetime(kept) { (try? realm.store.space().fileBytes) ?? 0 }
        }
        let nothing = try fileBytes { _ in 0 }
        #expect(try fileBytes { ThreadSafeReference(to: $0.objects(Note.self)[0]) } == nothing)
        #expect(try fileBytes { ThreadSafeReference(to: $0.objects(Note.self)) } > nothing)
        #expect(
            try fileBytes { realm in
                let reference = ThreadSafeReference(to: realm.objects(Note.self))
                _ = realm.resolve(reference)
                return reference
            } == nothing)
        #expect(try fileBytes { $0.objects(Note.self)[0].freeze() } > nothing)
    }

    final class Holder: @unchecked Sendable {  // every thread may read a `@ThreadSafe` property
        @ThreadSafe var person: LivePerson?
        @ThreadSafe var dogs: List<LiveDog>?
        init(_ person: LivePerson) {
            self.person = person
            dogs = person.dogs
        }
    }

    @Test("@ThreadSafe: each thread reads its own object, nil when it is deleted")
    func threadSafe() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a")
        try realm.write {
            realm.add(person)
            person.dogs.append(LiveDog("d"))
        }
        let holder = Holder(person)
        let seen = Locked<[String]>([])
        OtherThread.run {
            let mine = holder.person
            try? mine?.realm?.write { mine?.name = "b" }
            seen.with { $0.append("\(mine?.name ?? "nil") \(holder.dogs?.count ?? -1)") }
        }
        realm.refresh()
        #expect(holder.person == person && holder.person?.name == "b")
        try realm.write { realm.delete(person) }
        #expect(holder.person == nil && holder.dogs == nil)
        #expect(seen.current == ["b 1"])
    }

    @Test("the version at which @ThreadSafe was read on one thread is seen by others")
    func versionSeenByOthers() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a")
        try realm.write { realm.add(person) }
        realm.autorefresh = false
        let holder = Holder(person)
        OtherThread.run {
            guard let dogs = holder.dogs else { return }
            try? dogs.realm?.write { dogs.append(LiveDog("d")) }
        }
        #expect(holder.dogs?.count == 0)
        OtherThread.run { _ = holder.dogs }
        #expect(person.dogs.isEmpty && holder.dogs?.count == 1 && person.dogs.count == 1)
    }

    @Test("a write's value read by @ThreadSafe is seen by others after the commit")
    func valueOfAWrite() throws {
        let realm = try makeRealm(liveTypes)
        let person = LivePerson(1, "a")
        try realm.write { realm.add(person) }
        realm.autorefresh = false
        let configuration = realm.configuration
        let holder = Holder(person)
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { holder.dogs?.append(LiveDog("d")) }
        }
        #expect(person.dogs.isEmpty && holder.dogs?.count == 1 && person.dogs.count == 1)
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            other?.beginWrite()
            holder.dogs?.append(LiveDog("e"))
            other?.cancelWrite()
        }
        #expect(holder.dogs?.count == 1)
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { holder.person = other?.objects(LivePerson.self).first }
        }
        #expect(holder.person == person)
    }

    @Test("frozen: objects, lists, inverses and Realms, on many threads, after everything was deleted")
    func frozen() throws {
        let realm = try makeRealm(liveTypes)
        try realm.write {
            for id in 0..<50 {
                let person = LivePerson(id, "n\(id)", age: id % 7)
                person.dogs.append(LiveDog("d\(id)"))
                person.friend = realm.object(ofType: LivePerson.self, forPrimaryKey: id / 2)
                realm.add(person)
            }
        }
        let people = Frozen(realm.objects(LivePerson.self).sorted(byKeyPath: "name"))
        let whole = Frozen(realm)
        let first = Frozen(realm.objects(LivePerson.self)[0])
        let shown = realm.objects(LivePerson.self).snapshot()
        let expected = people.value.map { "\($0.name) \($0.dogs[0].name) \($0.admirers.count)" }
        try realm.write { realm.deleteAll() }
        try run(4) { _ in
            for _ in 0..<5 {
                #expect(people.value.map { "\($0.name) \($0.dogs[0].name) \($0.admirers.count)" } == expected)
                #expect(whole.value.objects(LivePerson.self).where { $0.age == 3 }.count == 7)
                #expect(whole.value.object(ofType: LivePerson.self, forPrimaryKey: 7)?["name"] as? String == "n7")
                #expect(first.value.isFrozen && first.value.freeze().name == "n0")
                #expect(shown.count == 50 && shown[49].name == "n49")
            }
        }
        #expect(first.value.thaw() == nil)
        #expect(people.value.thaw()?.count == 0)
        #expect(whole.value.isFrozen && !whole.value.thaw().isFrozen)
    }

    @Test("wrong-thread: errors where they can be thrown, and a new thread is never taken for an ended one")
    func wrongThread() throws {
        let realm = try makeRealm([Note.self])
        let note = Note("a")
        try realm.write { realm.add(note) }
        let carried = Locked<(Realm, Note)?>((realm, note))
        let codes = Locked<[Realm.Error.Code?]>([])
        let code: @Sendable (() throws -> Void) -> Void = { body in
            do {
                try body()
                codes.with { $0.append(nil) }
            } catch { codes.with { $0.append((error as? Realm.Error)?.code) } }
        }
        OtherThread.run {
            guard let (realm, note) = carried.current else { return }
            code { try realm.write {} }
            code { try realm.commitWrite() }
            code { _ = try note.read(\.text) }
            code { try realm.cancelAsyncWrite(1) }
        }
        #expect(codes.current == Array(repeating: .incorrectThread, count: 4))
        // The Realm of an ended thread: later threads may get its system thread id, but not its Realm.
        let left = Locked<Realm?>(nil)
        let configuration = realm.configuration
        OtherThread.run {
            let opened = try? Realm(configuration: configuration)
            left.with { $0 = opened }
        }
        let wrong = Locked(0)
        for _ in 0..<20 {
            OtherThread.run {
                do { try left.current?.write {} } catch Realm.Error.incorrectThread {
                    wrong.with { $0 += 1 }
                } catch {}
                // Its own Realm is another one.
                if let mine = try? Realm(configuration: configuration) { try? mine.write { mine.add(Note("b")) } }
            }
        }
        #expect(wrong.current == 20)
        realm.refresh()
        #expect(realm.objects(Note.self).count == 21)
    }

    @Test("autorefresh, refresh, invalidate: what a Realm shows, and when")
    func following() throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        let note = Note("a")
        try realm.write { realm.add(note) }
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { other?.objects(Note.self)[0].text = "b" }
        }
        #expect(note.text == "a")
        #expect(realm.refresh())
        #expect(note.text == "b")
        let results = realm.objects(Note.self)
        realm.invalidate()
        #expect(note.isInvalidated && results.isInvalidated && results.count == 0)
        #expect(realm.refresh())
        #expect(!note.isInvalidated && results.count == 1)
        realm.beginWrite()
        realm.add(Note("c"))
        realm.invalidate()
        #expect(!realm.isInWriteTransaction)
        realm.refresh()
        #expect(results.count == 1)
    }

    @Test("invalidate: the Realm shows the newest version at its next query, and observers are notified")
    func readAfterInvalidate() throws {
        let realm = try makeRealm([Note.self])
        let configuration = realm.configuration
        var seen: [[Int]] = []
        let token = realm.objects(Note.self).observe { change in
            if case .update(_, _, let insertions, _) = change { seen.append(insertions) }
        }
        realm.invalidate()
        OtherThread.run {
            let other = try? Realm(configuration: configuration)
            try? other?.write { other?.add(Note("b")) }
        }
        #expect(realm.objects(Note.self).map(\.text) == ["b"])
        #expect(seen.isEmpty)
        #expect(!realm.refresh())
        #expect(seen == [[0]])
        realm.invalidate()
        #expect(!realm.isEmpty && realm.dynamicObjects("Note").count == 1)
        realm.invalidate()
        try realm.write { realm.add(Note("c")) }
        #expect(seen == [[0], [1]])
        token.invalidate()
    }
}
