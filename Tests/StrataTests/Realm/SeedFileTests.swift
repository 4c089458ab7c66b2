import Foundation
import Strata
import Testing

@Suite struct SeedFileTests {
    private func seed(_ file: TemporaryFile, key: Data? = nil) throws {
        var configuration = file.configuration([Note.self])
        configuration.encryptionKey = key
        let realm = try Realm(configuration: configuration)
        try realm.write { for rank in 0..<5 { realm.add(Note("seed", rank: rank)) } }
    }

    @Test("a missing file starts as a copy of its seed, which stays unchanged")
    func copyOfItsSeed() throws {
        let (seedFile, file) = (TemporaryFile(), TemporaryFile())
        try seed(seedFile)
        let before = try Data(contentsOf: seedFile.url)
        var configuration = file.configuration([Note.self, Counter.self])
        configuration.seedFilePath = seedFile.url
        do {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Note.self).map(\.rank) == [0, 1, 2, 3, 4] && realm.objects(Counter.self).isEmpty)
            try realm.write { realm.deleteAll() }
        }
        #expect(try Data(contentsOf: seedFile.url) == before)
        // The file exists now, so the seed is not read again.
        try FileManager.default.removeItem(at: seedFile.url)
        #expect(try Realm(configuration: configuration).objects(Note.self).isEmpty)
        let beside = try FileManager.default.contentsOfDirectory(
            atPath: file.url.deletingLastPathComponent().path)
        #expect(!beside.contains { $0.hasPrefix(file.url.lastPathComponent + ".seed") })
    }

    @Test("a copy of a seed is migrated like any other file")
    func seedIsMigrated() throws {
        let (seedFile, file) = (TemporaryFile(), TemporaryFile())
        try seed(seedFile)
        var configuration = file.configuration([Note.self], version: 1) { migration, old in
            #expect(old == 0)
            migration.enumerateObjects(ofType: "Note") { _, new in new?["text"] = "migrated" }
        }
        configuration.seedFilePath = seedFile.url
        #expect(Set(try Realm(configuration: configuration).objects(Note.self).map(\.text)) == ["migrated"])
        #expect(try Realm.schemaVersionAtURL(seedFile.url) == 0)
    }

    @Test("a missing seed is an error that names both files, and no file is created")
    func missingSeed() throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Note.self])
        configuration.seedFilePath = file.url.appendingPathExtension("seed")
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(error?.code == .fileNotFound && error?.message.contains(".seed is not there") == true)
        #expect(!Realm.fileExists(for: configuration))
        configuration.inMemoryIdentifier = "seeded"
        let refused = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        #expect(refused?.code == .invalidInput)
    }

    #if Crypto
        @Test("an encrypted seed needs its key, which the copy shares")
        func encryptedSeed() throws {
            let (seedFile, file) = (TemporaryFile(), TemporaryFile())
            let key = Data((0..<64).map { UInt8($0) })
            try seed(seedFile, key: key)
            var configuration = file.configuration([Note.self])
            configuration.seedFilePath = seedFile.url
            #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
            #expect(!Realm.fileExists(for: configuration))
            configuration.encryptionKey = key
            #expect(try Realm(configuration: configuration).objects(Note.self).count == 5)
        }
    #endif
}

@Suite struct ActiveVersionTests {
    @Test("a write begins while at most the allowed versions are in use, and again when they are released")
    func atMostTheAllowed() throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Note.self])
        configuration.maximumNumberOfActiveVersions = 3
        let realm = try Realm(configuration: configuration)
        for rank in 0..<10 { try realm.write { realm.add(Note("free", rank: rank)) } }
        var frozen: [Realm] = []
        var refusal: Realm.Error?
        for rank in 0..<10 where refusal == nil {
            frozen.append(realm.freeze())
            do { try realm.write { realm.add(Note("held", rank: rank)) } } catch let error as Realm.Error {
                refusal = error
            }
        }
        let error = try #require(refusal)
        #expect(error.code == .tooManyVersions && frozen.count == 4)
        #expect(
            error.message.contains("maximumNumberOfActiveVersions is 3")
                && error.message.contains("release frozen Realms"))
        #expect(!realm.isInWriteTransaction && realm.objects(Note.self).count == 13)
        #expect(throws: Realm.Error.self) { try realm.write {} }
        frozen.removeAll()
        try realm.write { realm.add(Note("free again")) }
        #expect(realm.objects(Note.self).count == 14)
    }

    @Test("an asynchronous write is refused in its completion")
    func refusedInItsCompletion() async throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Note.self])
        configuration.maximumNumberOfActiveVersions = 1
        let url = configuration
        let outcome = try await Task { @MainActor in
            let realm = try await Realm.open(configuration: url)
            let held = realm.freeze()
            try realm.write { realm.add(Note("one")) }
            do {
                try await realm.asyncWrite { realm.add(Note("two")) }
                return (Realm.Error.Code?.none, held.objects(Note.self).count)
            } catch let error as Realm.Error {
                return (error.code, held.objects(Note.self).count)
            }
        }.value
        #expect(outcome.0 == .tooManyVersions && outcome.1 == 0)
    }
}
