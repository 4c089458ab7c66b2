import Foundation
import Strata
import StrataStorage
import Testing

/// A process can pin 991 versions of a file. A write beyond that throws before it begins: its Realm could not show the
/// version that it commits.
@Suite struct KeptVersionTests {
    private static let most = 991

    /// Changes a note and keeps it frozen, until a write is refused or `count` versions are pinned.
    private static func keep(_ note: Note, upTo count: Int = 2_000) throws -> (kept: [Note], refusal: Realm.Error?) {
        let realm = try #require(note.realm)
        var kept: [Note] = []
        while kept.count < count {
            let rank = kept.count + 1
            do { try realm.write { note.rank = rank } } catch let error as Realm.Error { return (kept, error) }
            if note.rank != rank { throw Realm.Error(.fail, "write \(rank) returned, and \(note.rank) is shown") }
            kept.append(note.freeze())
        }
        return (kept, nil)
    }

    private static func makeNote(_ realm: Realm) throws -> Note {
        try realm.write {
            let note = Note("kept")
            realm.add(note)
            return note
        }
    }

    @Test("a write whose result could not be shown throws before it begins, and succeeds after a release")
    func noFreePin() throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Note.self]))
        let note = try Self.makeNote(realm)
        var told = 0
        let token = realm.observe { _, _ in told += 1 }
        var (kept, refusal) = try Self.keep(note)
        #expect(refusal?.code == .tooManyVersions && kept.count == Self.most)
        #expect(refusal?.message.contains("release frozen") == true)
        #expect(told == kept.count, "observers are notified of completed writes")
        #expect(!realm.isInWriteTransaction && note.rank == Self.most)
        let again = #expect(throws: Realm.Error.self) { try realm.write { note.rank = -1 } }
        #expect(again?.code == .tooManyVersions)
        #expect(!realm.refresh() && note.rank == Self.most)
        OtherThread.run {
            let other = try? Realm(configuration: file.configuration([Note.self]))
            #expect(other?.objects(Note.self).first?.rank == Self.most, "the newest version is kept by others already")
        }
        let firstWrong = kept.indices.first { kept[$0].rank != $0 + 1 }
        #expect(firstWrong == nil)

        kept.remove(at: 500)
        try realm.write { note.rank = 5_000 }
        #expect(note.rank == 5_000 && told == Self.most + 1)
        OtherThread.run {
            let other = try? Realm(configuration: file.configuration([Note.self]))
            #expect(other?.objects(Note.self).first?.rank == 5_000)
        }
        withExtendedLifetime((kept, token)) {}
    }

    @Test("a write's reserved pin is returned when it is cancelled, throws or is not committed")
    func returnedPin() throws {
        let file = TemporaryFile()
        let realm = try Realm(configuration: file.configuration([Note.self]))
        let note = try Self.makeNote(realm)
        let (kept, _) = try Self.keep(note, upTo: Self.most - 1)
        for _ in 0..<3 {
            realm.beginWrite()
            note.rank = 0
            realm.cancelWrite()
            #expect(throws: Realm.Error.self) {
                try realm.write {
                    note.rank = 0
                    throw Realm.Error(.fail, "by the program")
                }
            }
            #expect(throws: Realm.Error.self) {
                try realm.write {
                    note.rank = 0
                    let gone = Note("gone")
                    realm.add(gone)
                    realm.delete(gone)
                    gone.rank = 1
                }
            }
            try realm.write {}
        }
        try realm.write { note.rank = 6_000 }
        #expect(note.rank == 6_000)
        let frozen = note.freeze()
        #expect(throws: Realm.Error.self) { try realm.write { note.rank = 6_001 } }
        withExtendedLifetime((kept, frozen)) {}
    }

    @Test("writes of two threads are seen or refused, also if observers see the other one first")
    func writesOfTwoThreads() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Note.self])
        let realm = try Realm(configuration: configuration)
        let note = try Self.makeNote(realm)
        let token = realm.observe { _, _ in }
        var (kept, _) = try Self.keep(note, upTo: Self.most - 20)
        var (refused, returned) = (0, 0)
        for round in 0..<40 {
            OtherThread.run {
                guard let other = try? Realm(configuration: configuration) else { return }
                do {
                    try other.write { other.objects(Note.self)[0].text = "\(round)" }
                    #expect(other.objects(Note.self)[0].text == "\(round)")
                } catch {
                    #expect((error as? Realm.Error)?.code == .tooManyVersions)
                }
            }
            do {
                try realm.write { note.rank = 10_000 + round }
                returned += 1
                #expect(note.rank == 10_000 + round)
                kept.append(note.freeze())
            } catch {
                refused += 1
                #expect((error as? Realm.Error)?.code == .tooManyVersions)
            }
        }
        #expect(refused > 0 && returned > 0)
        kept.removeAll()
        try realm.write { note.rank = 1 }
        #expect(note.rank == 1)
        withExtendedLifetime(token) {}
    }

    @Test("an asynchronous write is refused in its completion, and a withdrawn one takes no pin")
    func asynchronousWrite() async throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Note.self])
        try await Task { @MainActor in
            let realm = try await Realm.open(configuration: configuration)
            let note = try Self.makeNote(realm)
            var (kept, refusal) = try Self.keep(note)
            #expect(refusal?.code == .tooManyVersions)
            let error = await #expect(throws: Realm.Error.self) { try await realm.asyncWrite { note.rank = -1 } }
            #expect(error?.code == .tooManyVersions)
            #expect(note.rank == kept.count)
            kept.removeFirst()
            for _ in 0..<3 {
                let id = realm.beginAsyncWrite { note.rank = -2 }
                try realm.cancelAsyncWrite(id)
            }
            try await realm.asyncWrite { note.rank = 7_000 }
            #expect(note.rank == 7_000)
            withExtendedLifetime(kept) {}
        }.value
    }

    @Test("a refresh without a free pin is reported, and an open throws")
    func refreshAndOpen() throws {
        let file = TemporaryFile()
        let reports = Locked<[String]>([])
        var configuration = file.configuration([Note.self])
        configuration.invalidAccessHandler = { report in reports.with { $0.append(report.message) } }
        let settled = configuration
        let realm = try Realm(configuration: configuration)
        let note = try Self.makeNote(realm)
        var options = StoreOptions()
        options.durability = .none
        // A second store, as in another process.
        let store = try Store.open(path: file.url.path, options: options)
        var (kept, _) = try Self.keep(note)
        let transaction = try store.beginWrite()
        let schema = transaction.view.schema
        let table = try #require(schema.tables.firstIndex { $0.name == "Note" })
        let column = try #require(schema.tables[table].columns.firstIndex { $0.name == "rank" })
        let key = try #require(try transaction.view.key(at: 0, in: table))
        try transaction.set(table, key, column: column, to: .integer(8_000))
        try transaction.commit()

        #expect(!realm.refresh() && note.rank == Self.most)
        #expect(reports.current.contains { $0.contains("this process pins \(Self.most) versions") })
        #expect(throws: Realm.Error.self) { try realm.write {} }
        OtherThread.run {
            let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: settled) }
            #expect(error?.code == .tooManyVersions)
        }
        kept.removeFirst()
        #expect(realm.refresh() && note.rank == 8_000)
        try store.close()
    }
}
