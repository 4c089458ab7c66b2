import CoreDataFiles
import Foundation
import StoreMigration
import Strata

final class MigratedPerson: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var age: Int?
    @Persisted var born: Date?
    @Persisted var score = 0.0
    @Persisted var isActive = false
    @Persisted var photo: Data?
    @Persisted var friend: MigratedPerson?

    static let model = RecordModel(
        "MigratedPerson", key: "id", hasIntegerKey: true,
        [
            RecordField("name", .text), RecordField("age", .integer, isOptional: true),
            RecordField("born", .date, isOptional: true), RecordField("score", .real),
            RecordField("isActive", .boolean), RecordField("photo", .data, isOptional: true),
            RecordField("friend", .link(to: "MigratedPerson")),
        ])
}

/// A directory for a store of each kind, deleted with the object.
final class MigrationPlace {
    let path: String
    static let model = MigratedPerson.model

    init() throws {
        path = NSTemporaryDirectory() + "/migration-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

    func strata() throws -> StrataStore {
        try StrataStore(
            Realm.Configuration(fileURL: url("new.strata"), objectTypes: [MigratedPerson.self]),
            models: [Self.model])
    }

    #if SQLite
        func sqlite(dateOrigin: Double = 978_307_200) throws -> SQLiteTableStore {
            let file = try SQLiteFile(path + "/old.sqlite", .create)
            try file.run(
                """
                CREATE TABLE IF NOT EXISTS person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, born REAL, \
                score REAL NOT NULL, active INTEGER NOT NULL, photo BLOB, friend INTEGER, saves INTEGER)
                """)
            file.close()
            return try SQLiteTableStore(
                path + "/old.sqlite",
                [
                    SQLiteTable(
                        Self.model, table: "person", keyColumn: "id", columns: ["isActive": "active"],
                        changeColumn: "saves", dateOrigin: dateOrigin)
                ])
        }
    #endif

    func writer(
        _ old: any PrimaryStore, _ new: any PrimaryStore, _ order: WriteOrder = .oldFirst, limit: Int = 100
    ) throws -> DoubleWriter {
        try DoubleWriter(old: old, new: new, outbox: url("outbox.strata"), order: order, outboxLimit: limit)
    }
}

func id(_ key: Int) -> RecordID { RecordID("MigratedPerson", key) }

func person(_ key: Int, _ name: String, age: Int64? = nil, friend: Int64? = nil) -> Record {
    Record(
        id(key),
        [
            "name": .text(name), "age": age.map { .integer($0) } ?? .null, "born": .null, "score": .real(0.5),
            "isActive": .integer(1), "photo": .null, "friend": friend.map { .link(.integer($0)) } ?? .null,
        ])
}
