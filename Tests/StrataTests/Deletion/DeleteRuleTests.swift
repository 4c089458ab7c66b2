import Strata
import Testing

@Suite struct DeleteRuleTests {
    final class Folder: Object {
        @Persisted var name = ""
        @Persisted(deleteRule: .cascade) var child: Folder?
        @Persisted(deleteRule: .cascadeIfLast) var shared: List<Note>
        @Persisted(deleteRule: .nullify) var loose: Note?
        @Persisted(deleteRule: .deny) var locked: Note?
    }

    @Test("cascade follows a chain of any length, and a cycle")
    func cascadeChain() throws {
        let realm = try makeRealm([Folder.self])
        try realm.write {
            let first = realm.create(Folder.self, value: ["name": "0"])
            var last = first
            for number in 1..<1_000 {
                let next = realm.create(Folder.self, value: ["name": "\(number)"])
                last.child = next
                last = next
            }
            last.child = first
            realm.delete(first)
        }
        #expect(realm.objects(Folder.self).isEmpty)
    }

    @Test("cascadeIfLast deletes targets without another link")
    func cascadeIfLast() throws {
        let realm = try makeRealm([Folder.self])
        let (a, b) = (Folder(value: ["name": "a"]), Folder(value: ["name": "b"]))
        let (mine, ours) = (Note("mine"), Note("ours"))
        a.shared.append(objectsIn: [mine, ours])
        b.shared.append(ours)
        try realm.write { realm.add([a, b]) }
        try realm.write { realm.delete(a) }
        #expect(realm.objects(Note.self).map(\.text) == ["ours"])
        try realm.write { realm.delete(b) }
        #expect(realm.objects(Note.self).isEmpty)
    }

    @Test("two owners deleted together delete their shared targets")
    func ownersTogether() throws {
        let realm = try makeRealm([Folder.self])
        let (a, b, ours) = (Folder(), Folder(), Note("ours"))
        a.shared.append(ours)
        b.shared.append(ours)
        try realm.write { realm.add([a, b]) }
        try realm.write { realm.delete([a, b]) }
        #expect(realm.objects(Note.self).isEmpty)
    }

    @Test("nullify keeps the target, and a deleted target leaves nil")
    func nullifyKeepsTarget() throws {
        let realm = try makeRealm([Folder.self])
        let (folder, note) = (Folder(), Note("loose"))
        folder.loose = note
        try realm.write { realm.add(folder) }
        try realm.write { realm.delete(note) }
        #expect(folder.loose == nil)
        try realm.write { folder.loose = Note("again") }
        try realm.write { realm.delete(folder) }
        #expect(realm.objects(Note.self).map(\.text) == ["again"])
    }

    @Test("deny fails the write while the property has a target")
    func denyFailsWrite() throws {
        let realm = try makeRealm([Folder.self])
        let folder = Folder()
        folder.locked = Note("in use")
        try realm.write { realm.add(folder) }
        do {
            try realm.write { realm.delete(folder) }
            Issue.record("deleted what a rule protects")
        } catch Realm.Error.deleteDenied {}
        #expect(!folder.isInvalidated && realm.objects(Note.self).count == 1)
        try realm.write {
            folder.locked = nil
            realm.delete(folder)
        }
        #expect(realm.objects(Folder.self).isEmpty)
    }
}
