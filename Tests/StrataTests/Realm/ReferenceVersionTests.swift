import Foundation
import Strata
import Testing

/// A reference to results, resolved in a newly opened Realm, once gave other elements than its creator had seen.
@Suite struct ReferenceVersionTests {
    final class Note: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var marks: List<Int>
        @Persisted var next: List<Note>
    }

    private let file = TemporaryFile()
    private var configuration: Realm.Configuration { file.configuration([Note.self]) }

    private func elsewhere(_ work: @escaping (Realm) throws -> Void) {
        let configuration = configuration
        OtherThread.run {
            do { try work(try Realm(configuration: configuration)) } catch { Issue.record(error) }
        }
    }

    private func add(_ id: Int) { elsewhere { realm in try realm.write { realm.add(Note(value: [id])) } } }

    @Test("a Realm opened for it shows the version of the results")
    func versionOfTheResults() throws {
        add(1)
        let realm = try Realm(configuration: configuration)
        realm.autorefresh = false
        realm.refresh()
        let reference = ThreadSafeReference(to: realm.objects(Note.self).filter("id > 0"))
        add(2)
        elsewhere { other in
            let notes = try #require(other.resolve(reference))
            #expect(notes.count == 1 && other.objects(Note.self).count == 1)
            #expect(other.refresh() && notes.count == 2)
            #expect(other.resolve(reference) == nil)
        }
    }

    @Test("the same for lists of objects and of values")
    func versionOfLists() throws {
        let realm = try Realm(configuration: configuration)
        realm.autorefresh = false
        let note = Note(value: [1])
        try realm.write { realm.add(note) }
        try realm.write {
            note.marks.append(1)
            note.next.append(note)
        }
        let references = (ThreadSafeReference(to: note.marks), ThreadSafeReference(to: note.next))
        elsewhere { other in
            try other.write { other.objects(Note.self).forEach { $0.marks.append(2) } }
        }
        elsewhere { other in
            #expect(other.resolve(references.0).map { Array($0) } == [1])
            #expect(other.resolve(references.1)?.first?.marks.count == 1)
        }
    }

    @Test("a Realm that the program has read stays, or advances to the newest version")
    func realmThatWasRead() throws {
        add(1)
        let realm = try Realm(configuration: configuration)
        realm.autorefresh = false
        realm.refresh()
        func reference() -> ThreadSafeReference<Results<Note>> { ThreadSafeReference(to: realm.objects(Note.self)) }
        let (first, second, third) = (reference(), reference(), reference())
        add(2)
        elsewhere { other in
            #expect(other.objects(Note.self).count == 2)
            #expect(other.resolve(first)?.count == 2)
            var told = 0
            let token = other.observe { _, _ in told += 1 }
            #expect(other.resolve(second)?.count == 2 && told == 0)
            token.invalidate()
        }
        elsewhere { other in
            try other.write { #expect(other.resolve(third)?.count == 2) }
        }
    }

    @Test("a reference to an object, or of another file, does not change a new Realm's version")
    func unrelatedReference() throws {
        add(1)
        let realm = try Realm(configuration: configuration)
        realm.autorefresh = false
        realm.refresh()
        let note = try #require(realm.objects(Note.self).first)
        let object = ThreadSafeReference(to: note)
        let results = ThreadSafeReference(to: realm.objects(Note.self))
        add(2)
        elsewhere { other in
            #expect(other.resolve(object)?.id == 1 && other.objects(Note.self).count == 2)
        }
        let unrelated = TemporaryFile()
        let foreign = try Realm(configuration: unrelated.configuration([Note.self]))
        #expect(foreign.resolve(results)?.isEmpty == true)
    }
}
