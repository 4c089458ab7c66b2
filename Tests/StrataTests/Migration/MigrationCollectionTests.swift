import Foundation
import Strata
import Testing

/// Migrations of sets, maps and encrypted files.
@Suite struct MigrationCollectionTests {
    enum Old {
        final class Album: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var tags: MutableSet<String>
            @Persisted var ratings: Map<String, Int>
            @Persisted var tracks: MutableSet<Track>
            @Persisted var solos: Map<String, Track?>
            override class func className() -> String { "Album" }
        }
        final class Track: Object {
            @Persisted var title = ""
            override class func className() -> String { "Track" }
        }
    }

    enum New {
        final class Album: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var labels: MutableSet<String>
            @Persisted var marks: Map<String, Int>
            @Persisted var songs: MutableSet<Old.Track>
            @Persisted var highlights: Map<String, Old.Track?>
            @Persisted var count = 0
            override class func className() -> String { "Album" }
        }
    }

    private func fill(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            let track = realm.create(Old.Track.self, value: ["title": "one"])
            let album = realm.create(Old.Album.self, value: ["id": 1])
            album.tags.insert(objectsIn: ["b", "a"])
            album.ratings["x"] = 5
            album.tracks.insert(track)
            album.solos["guitar"] = track
            realm.create(Old.Album.self, value: ["id": 2])
        }
    }

    private static let block: MigrationBlock = { migration, _ in
        migration.renameProperty(onType: "Album", from: "tags", to: "labels")
        migration.renameProperty(onType: "Album", from: "ratings", to: "marks")
        migration.renameProperty(onType: "Album", from: "tracks", to: "songs")
        migration.renameProperty(onType: "Album", from: "solos", to: "highlights")
        try migration.enumerateObjects(ofType: "Album") { old, new in
            let tracks = try old?.value("tracks", as: MutableSet<MigrationObject>.self)
            try new?.set("count", to: tracks?.count ?? 0)
        }
    }

    private func expect(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        let album = try #require(realm.object(ofType: New.Album.self, forPrimaryKey: 1))
        #expect(Set(album.labels) == ["a", "b"])
        #expect(album.marks["x"] == 5)
        #expect(album.songs.map(\.title) == ["one"] && album.count == 1)
        #expect(album.highlights["guitar"]??.title == "one")
        #expect(realm.object(ofType: New.Album.self, forPrimaryKey: 2)?.count == 0)
    }

    @Test("rename: sets and maps, of values and of objects, are kept")
    func renamedSetsAndMaps() throws {
        let file = TemporaryFile()
        try fill(file.configuration([Old.Album.self]))
        try expect(file.configuration([New.Album.self], version: 1, Self.block))
    }

    #if Crypto
        @Test("an encrypted file is migrated, rehearsed and backed up under its key")
        func encryptedFileIsMigrated() throws {
            let file = TemporaryFile()
            let key = Data((0..<64).map { UInt8($0) })
            let backup = URL(fileURLWithPath: file.url.path + ".before-v0")
            defer { try? FileManager.default.removeItem(at: backup) }
            var old = file.configuration([Old.Album.self])
            old.encryptionKey = key
            try fill(old)
            var migrating = file.configuration([New.Album.self], version: 2)
            migrating.encryptionKey = key
            migrating.migrationBackup = .keep
            migrating.migrationPlan = MigrationPlan([
                MigrationStep(to: 1, classes: [New.Album.self]) { try Self.block($0, 0) }, MigrationStep(to: 2),
            ])
            #expect(try Realm.dryRunMigration(for: migrating).steps.count == 2)
            try expect(migrating)
            let bytes = try Data(contentsOf: file.url) + Data(contentsOf: backup)
            #expect(bytes.range(of: Data("Album".utf8)) == nil)
            #expect(try Realm.schemaVersionAtURL(backup, encryptionKey: key) == 0)
            #expect(throws: Realm.Error.self) { try Realm.schemaVersionAtURL(backup) }
        }
    #endif
}
