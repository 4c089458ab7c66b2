import Foundation
import Strata
import Testing

/// Misuse that ends the program, with a message that names the remedy.
@Suite struct MisuseTests {
    private static func expect(_ text: String, _ result: ExitTest.Result?) {
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text), "\(output.suffix(400))")
    }

    @Test("results of another thread's Realm end the program and say what to pass instead")
    func wrongThread() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            let carried = Locked(realm.objects(Note.self))
            OtherThread.run { carried.with { _ = $0.count } }
        }
        Self.expect("Realm accessed from incorrect thread", result)
        Self.expect("ThreadSafeReference", result)
    }

    @Test("freezing, or thawing, on another thread than the Realm's own ends the program")
    func freezingElsewhere() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            try realm.write { realm.add(Note("a")) }
            let note = realm.objects(Note.self)[0]
            OtherThread.run { _ = note.freeze() }
        }
        Self.expect("Realm accessed from incorrect thread", object)
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let notes = try makeRealm([Note.self]).objects(Note.self)
            OtherThread.run { _ = notes.freeze() }
        }
        Self.expect("Realm accessed from incorrect thread", results)
        let whole = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            OtherThread.run { _ = realm.thaw() }
        }
        Self.expect("Realm accessed from incorrect thread", whole)
    }

    /// In release builds, too, in which the value is read from a window without a call.
    @Test("a property of a held object, read on another thread, ends the program and says what to pass instead")
    func wrongThreadOfHeldObject() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            try realm.write { for rank in 0..<20 { realm.add(Note("note", rank: rank)) } }
            let note = realm.objects(Note.self)[3]
            for _ in 0..<3 where note.rank != 3 { fatalError("another value") }
            let carried = Locked(note)
            OtherThread.run { carried.with { if $0.rank != 3 { fatalError("read") } } }
        }
        Self.expect("Realm accessed from incorrect thread", result)
    }

    @Test("changing an object outside a write ends the program and names realm.write")
    func outsideWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            let note = Note("a")
            try realm.write { realm.add(note) }
            note.text = "b"
        }
        Self.expect("realm.write", result)
    }

    @Test("changing a frozen object ends the program and says to thaw it")
    func frozen() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            try realm.write { realm.add(Note("a")) }
            let note = realm.objects(Note.self)[0].freeze()
            try realm.write { note.text = "b" }
        }
        Self.expect("thaw it", result)
    }

    @Test("cancelWrite without a write, beginWrite inside one: the program ends with the reason")
    func unbalanced() async {
        let cancelled = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try makeRealm([Note.self]).cancelWrite()
        }
        Self.expect("cancelWrite without beginWrite", cancelled)
        let nested = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            realm.beginWrite()
            realm.beginWrite()
        }
        Self.expect("already in a write", nested)
    }

    @Test("observing an unmanaged or frozen object, or an unknown property, ends the program with the reason")
    func observing() async {
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = LivePerson().dogs.observe { _ in }
        }
        Self.expect("add its owner to a Realm first", unmanaged)
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            _ = realm.objects(Note.self).freeze().observe { _ in }
        }
        Self.expect("thaw it to observe it", frozen)
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try makeRealm([Note.self])
            _ = realm.objects(Note.self).observe(keyPaths: ["colour"]) { _ in }
        }
        Self.expect("'Note' has no property 'colour'", unknown)
    }

    @Test("misuse in a throwing call throws, and the Realm stays usable")
    func thrown() throws {
        let realm = try makeRealm([Note.self])
        let other = try makeRealm([Note.self])
        func code(_ body: () throws -> Void) -> Realm.Error.Code? {
            do { try body() } catch { return (error as? Realm.Error)?.code }
            return nil
        }
        #expect(code { try realm.commitWrite() } == .wrongState)
        #expect(code { try realm.freeze().write {} } == .wrongState)
        #expect(code { try realm.write { try realm.write {} } } == .wrongState)
        let foreign = Note("foreign")
        try other.write { other.add(foreign) }
        #expect(code { try realm.write { realm.add(foreign) } } == .invalidInput)
        #expect(code { try realm.write { realm.delete(foreign) } } == .invalidInput)
        let gone = Note("gone")
        try realm.write { realm.add(gone) }
        try realm.write { realm.delete(gone) }
        #expect(code { try realm.write { gone.text = "b" } } == .objectDeleted)
        #expect(code { try realm.write { realm.add(gone) } } == .objectDeleted)
        #expect(code { try realm.write { realm.delete(gone) } } == .objectDeleted)
        #expect(code { _ = try gone.read(\.text) } == .objectDeleted)
        try realm.write { realm.add(Note("after")) }
        #expect(realm.objects(Note.self).count == 1)
    }
}
