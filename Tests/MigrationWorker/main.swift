import CoreDataFiles
import Platform
import StoreMigration
import Strata

import struct Foundation.URL

// Writes both stores of a directory, for tests that kill it at each call. Each acknowledged batch is a line on standard
// output.
//
//     MigrationWorker DIRECTORY prepare            makes both stores, equal, with people 1 to 5
//     MigrationWorker DIRECTORY write ORDER PHASE  enters a phase and writes a batch that inserts, updates and deletes,
//                                                  and two that follow
//     MigrationWorker DIRECTORY lock               begins a transaction on the old store, and rolls it back

final class Person: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var age: Int?
    @Persisted var friend: Person?
}

#if SQLite
    let model = RecordModel(
        "Person", key: "id", hasIntegerKey: true,
        [
            RecordField("name", .text), RecordField("age", .integer, isOptional: true),
            RecordField("friend", .link(to: "Person")),
        ])

    func person(_ id: Int, _ name: String, age: Int64?, friend: Int64? = nil) -> RecordChange {
        .upsert(
            Record(
                RecordID("Person", id),
                [
                    "name": .text(name), "age": age.map { .integer($0) } ?? .null,
                    "friend": friend.map { .link(.integer($0)) } ?? .null,
                ]))
    }

    func run(_ arguments: [String]) throws {
        let directory = arguments[1]
        let path = directory + "/old.sqlite"
        if arguments[2] == "lock" {
            let file = try SQLiteFile(path, .write)
            try file.run("BEGIN IMMEDIATE")
            try file.run("ROLLBACK")
            return
        }
        if arguments[2] == "prepare" {
            let file = try SQLiteFile(path, .create)
            try file.run("PRAGMA journal_mode = WAL")
            try file.run(
                "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, friend INTEGER)")
            file.close()
        }
        let old = try SQLiteTableStore(path, [SQLiteTable(model, table: "person", keyColumn: "id")])
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory + "/new.strata"), objectTypes: [Person.self])
        let new = try StrataStore(configuration, models: [model])
        let order: WriteOrder = arguments.contains("newFirst") ? .newFirst : .oldFirst
        let outbox = URL(fileURLWithPath: directory + "/outbox.strata")
        let writer = try DoubleWriter(old: old, new: new, outbox: outbox, order: order)
        if arguments[2] == "prepare" {
            let batch = (1...5).map { person($0, "p\($0)", age: Int64($0)) }
            try writer.enter(.bothOldRead)
            try writer.write(batch)
        } else {
            if arguments.contains("bothNewRead") { try writer.enter(.bothNewRead, unchecked: true) }
            let batches: [[RecordChange]] = [
                [person(6, "six", age: 6, friend: 1), person(1, "one", age: nil), .delete(RecordID("Person", 2))],
                [person(7, "seven", age: 0, friend: 6), person(3, "three", age: 33)],
                [.delete(RecordID("Person", 7)), person(1, "uno", age: 11, friend: 3)],
            ]
            for (place, batch) in batches.enumerated() {
                guard try writer.write(batch).isDone else { continue }
                var line = Array("batch \(place)\n".utf8)
                _ = say(&line)
            }
        }
        try writer.close()
        var line = Array("end 0\n".utf8)
        _ = say(&line)
    }

    func say(_ line: inout [UInt8]) -> Int { write(1, &line, line.count) }

    guard CommandLine.arguments.count > 2 else { exit(64) }
    do { try run(CommandLine.arguments) } catch {
        var line = Array("error: \(error)\n".utf8)
        _ = say(&line)
        exit(1)
    }
#endif
