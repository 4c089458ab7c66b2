import Foundation
import Strata
import Testing

@Suite struct FileTests {
    final class Shelf: Object {
        @Persisted var numbers: List<Int>
    }

    @Test("writes persist across reopening")
    func writesPersist() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Counter.self]))
            try realm.write { for id in 0..<500 { realm.add(Counter(id, "counter number \(id)", count: id)) } }
        }
        let realm = try Realm(configuration: file.configuration([Counter.self]))
        #expect(realm.objects(Counter.self).count == 500)
        #expect(realm.object(ofType: Counter.self, forPrimaryKey: 321)?.name == "counter number 321")
    }

    @Test("a copy is complete and replaces no file")
    func copyReplacesNothing() throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Note.self]))
        try realm.write { realm.add(Note("kept")) }
        let copy = URL(fileURLWithPath: file.url.path + ".copy")
        try realm.writeCopy(toFile: copy)
        do {
            try realm.writeCopy(toFile: copy)
            Issue.record("replaced a file")
        } catch Realm.Error.fileExists {}
        let other = try Realm(configuration: Realm.Configuration(fileURL: copy, objectTypes: [Note.self]))
        #expect(other.objects(Note.self).map(\.text) == ["kept"])
    }

    /// A copy made inside a write once had 1000 of 1001 objects, since it showed the version before.
    @Test("a copy inside a write includes the write's changes", arguments: [false, true])
    func copyInsideAWrite(rollsBack: Bool) throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Counter.self, Shelf.self]))
        let (kept, lastID) = (990, 1000)
        try realm.write { for id in 0..<lastID { realm.add(Counter(id, "counter \(id)")) } }
        let copy = URL(fileURLWithPath: file.url.path + ".copy")
        realm.beginWrite()
        for counter in realm.objects(Counter.self).where({ $0.id < 100 }) { counter.count = 1 }
        realm.delete(realm.objects(Counter.self).where { $0.id >= kept })
        realm.add(Counter(lastID, "the last"))
        let shelf = realm.create(Shelf.self)
        shelf.numbers.append(objectsIn: 0..<3000)
        try realm.writeCopy(toFile: copy)
        // The write continues; later changes are not in the copy.
        realm.add(Counter(lastID + 1, "later"))
        shelf.numbers.removeSubrange(2990..<3000)
        if rollsBack { realm.cancelWrite() } else { try realm.commitWrite() }
        #expect(realm.objects(Counter.self).count == (rollsBack ? lastID : kept + 2))
        #expect(realm.objects(Shelf.self).first?.numbers.count == (rollsBack ? nil : 2990))
        #expect(try realm.verify().isEmpty)
        let other = try Realm(
            configuration: Realm.Configuration(fileURL: copy, objectTypes: [Counter.self, Shelf.self]))
        #expect(other.objects(Counter.self).count == kept + 1)
        #expect(other.objects(Counter.self).where { $0.count == 1 }.count == 100)
        #expect(other.object(ofType: Counter.self, forPrimaryKey: lastID)?.name == "the last")
        #expect(other.objects(Shelf.self).first?.numbers.last == 2999)
        #expect(try other.verify().isEmpty)
    }

    @Test("a copy for a configuration is written to its fileURL, and refused for memory")
    func copyForAConfiguration() throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Note.self]))
        try realm.write { realm.add(Note("kept")) }
        let copy = Realm.Configuration(fileURL: URL(fileURLWithPath: file.url.path + ".copy"), objectTypes: [Note.self])
        try realm.writeCopy(configuration: copy)
        #expect(try Realm(configuration: copy).objects(Note.self).map(\.text) == ["kept"])
        do {
            try realm.writeCopy(configuration: copy)
            Issue.record("replaced a file")
        } catch Realm.Error.fileExists {}
        do {
            try realm.writeCopy(configuration: Realm.Configuration(inMemoryIdentifier: "nowhere"))
            Issue.record("copied to memory")
        } catch Realm.Error.invalidInput {}
        #expect(try schemaVersionAtURL(file.url) == 0)
    }

    @Test("an error names the file that the system refused")
    func refusedFileIsNamed() throws {
        let impossible = URL(fileURLWithPath: "/dev/null/below.strata")
        let error = #expect(throws: Realm.Error.self) {
            try Realm(configuration: Realm.Configuration(fileURL: impossible, objectTypes: [Note.self]))
        }
        #expect(error?.code == .fileOperationFailed)
        #expect(error?.fileURL?.path.hasPrefix(impossible.path) == true)

        let file = TemporaryFile()
        try Data("no database at all, but long enough to be looked at".utf8).write(to: file.url)
        let foreign = #expect(throws: Realm.Error.self) { try Realm(configuration: file.configuration([Note.self])) }
        #expect(foreign?.code == .invalidDatabase)
        #expect(foreign?.fileURL?.path == file.url.path)
        #expect(Realm.Error(.fail).fileURL == nil)
    }

    @Test("an error without a message shows its code's name")
    func namedErrorCode() {
        let error = Realm.Error(.fail)
        #expect(error.message == "fail")
        #expect(error == Realm.Error(.fail))
        #expect(error != Realm.Error(.fail, "another"))
    }

    @Test("files are deleted when no Realm has them open")
    func deletedWhenUnused() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Note.self])
        #expect(!Realm.fileExists(for: configuration))
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Note("x")) }
            #expect(Realm.fileExists(for: configuration))
            do {
                try Realm.deleteFiles(for: configuration)
                Issue.record("deleted an open file")
            } catch Realm.Error.alreadyOpen {}
            #expect(realm.objects(Note.self).count == 1)
        }
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(try !Realm.deleteFiles(for: configuration))
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test("a file replaced while open is the one that the next open sees")
    func replacedWhileOpen() throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Note.self])
        configuration.durability = .full
        let old = try Realm(configuration: configuration)
        try old.write { old.add(Note("old")) }
        for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: file.url.path + suffix) }
        for round in 0..<3 {
            let new = try Realm(configuration: configuration)
            #expect(new.objects(Note.self).count == round)
            try new.write { new.add(Note("new")) }
        }
        #expect(old.objects(Note.self).map(\.text) == ["old"])
        #expect(throws: Realm.Error.self) { try old.write { old.add(Note("lost")) } }
        #expect(try Realm(configuration: configuration).objects(Note.self).count == 3)
    }

    @Test("the version of a missing file is an error")
    func versionOfMissingFile() {
        #expect(throws: Realm.Error.self) {
            try Realm.schemaVersionAtURL(URL(fileURLWithPath: "/nonexistent/\(UUID()).strata"))
        }
    }

    @Test("a throwing write leaves nothing, and a successful one returns the block's value")
    func throwingWrite() throws {
        struct Stop: Error {}
        let realm = try makeRealm([Note.self])
        #expect(throws: Stop.self) {
            try realm.write {
                realm.add(Note("x"))
                throw Stop()
            }
        }
        #expect(realm.isEmpty && !realm.isInWriteTransaction)
        let count = try realm.write {
            realm.add(Note("x"))
            return realm.objects(Note.self).count
        }
        #expect(count == 1)
        #expect(throws: Realm.Error.self) { try realm.write { try realm.write {} } }
    }

    @Test("threads that increment one counter lose no increment")
    func noLostIncrement() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { realm.add(Counter(1)) }
        let configuration = realm.configuration
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            OtherThread.run {
                do {
                    let realm = try Realm(configuration: configuration)
                    for _ in 0..<50 {
                        try realm.write { realm.object(ofType: Counter.self, forPrimaryKey: 1)?.count += 1 }
                    }
                } catch { failures.with { $0.append("\(error)") } }
            }
        }
        realm.refresh()
        #expect(failures.current == [])
        #expect(realm.object(ofType: Counter.self, forPrimaryKey: 1)?.count == 200)
    }
}
