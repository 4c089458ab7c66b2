import Foundation
import StoreMigration
import Strata

/// Both stores of a directory, and what was written to them.
struct Stores {
    let configuration: Realm.Configuration
    let writer: DoubleWriter

    /// - Parameter real: a store of Core Data and the file that `strata coredata import` made of it; else the directory
    ///   has a store of notes.
    init(_ directory: URL, real: (store: String, new: String)? = nil) throws {
        let old: CoreDataStore
        if let real {
            old = try CoreDataStore(real.store)
            // Classes that this program does not have are known by the file.
            configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: real.new), objectTypes: [])
        } else {
            let path = directory.appendingPathComponent("old.sqlite").path
            if !FileManager.default.fileExists(atPath: path) {
                try CoreDataStore.makeEmpty(path, [Models.note], keepsHistory: true)
            }
            old = try CoreDataStore(path)
            configuration = Realm.Configuration(
                fileURL: directory.appendingPathComponent("new.strata"), objectTypes: [Note.self])
        }
        let new = try StrataStore(configuration, models: old.models)
        writer = try DoubleWriter(
            old: old, new: new, outbox: directory.appendingPathComponent("outbox.strata"), order: .oldFirst)
    }

    /// Writes batches that follow from a seed until the process is killed, and says each that was acknowledged.
    func writeUntilKilled(seed: Int) throws -> Never {
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ count: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(count))
        }
        for batch in 0... {
            var changes: [RecordChange] = []
            for _ in 0...random(4) {
                let id = RecordID("Note", 1 + random(300))
                if random(5) == 0 {
                    changes.append(.delete(id))
                } else {
                    changes.append(
                        .upsert(
                            Record(
                                id,
                                [
                                    "title": .text("\(seed) \(batch)"),
                                    "stars": random(3) == 0 ? .null : .integer(Int64(random(5))),
                                    "changed": .integer(Int64(seed * 1_000_000 + batch)),
                                ])))
                }
            }
            try writer.write(changes)
            FileHandle.standardOutput.write(Data(".".utf8))
        }
        exit(0)
    }
}
