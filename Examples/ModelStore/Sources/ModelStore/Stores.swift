import Foundation
import StoreMigration
import Strata

/// Both stores of a directory, the outbox, and a writer that can be killed.
///
/// The directory has a store of notes, or the copy of a store that a caller named.
struct Stores {
    let configuration: Realm.Configuration
    let old: CoreDataStore
    private let isOfNotes: Bool
    let writer: DoubleWriter

    private static func file(_ directory: URL, _ name: String) -> URL { directory.appendingPathComponent(name) }

    /// - Parameter leavingOut: properties that the adapter does not write, as `Entity.property`.
    init(_ directory: URL, leavingOut: Set<String> = []) throws {
        old = try CoreDataStore(Self.file(directory, "old.sqlite").path, leavingOut: leavingOut)
        let url = Self.file(directory, "new.strata")
        // The store may have its properties in another order.
        isOfNotes = old.models.map(\.name) == ["Note"] && Set(old.models[0].fields) == Set(Models.note.fields)
        // A store of another program has classes that this one lacks: Strata takes their description from the file.
        configuration = Realm.Configuration(fileURL: url, objectTypes: isOfNotes ? [Note.self] : [])
        let new = try StrataStore(configuration, models: old.models)
        writer = try DoubleWriter(old: old, new: new, outbox: Self.file(directory, "outbox.strata"), order: .oldFirst)
    }

    /// An empty store of Core Data's shape, as in a new application.
    static func makeNotes(_ directory: URL) throws {
        try CoreDataStore.makeEmpty(file(directory, "old.sqlite").path, [Models.note], keepsHistory: true)
    }

    /// Copies a store, which itself stays unchanged, and imports the copy into the new store.
    static func copy(_ store: String, to directory: URL) throws {
        let path = file(directory, "old.sqlite").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: path + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
        }
        print("imported: \(try CoreDataStore.importStore(path, to: file(directory, "new.strata").path))")
    }

    // MARK: Writing

    /// Writes seeded batches, until a limit or until the process is killed.
    /// - Parameter acknowledged: called after each batch.
    func write(seed: Int, batches: Int = .max, acknowledged: () -> Void = {}) throws {
        var random = SeededRandom(seed)
        let keys = try isOfNotes ? [] : someKeys()
        for batch in 0..<batches {
            let changes = keys.isEmpty ? notes(seed, batch, &random) : try renamed(keys, seed, batch, &random)
            if changes.isEmpty { return }
            try writer.write(changes)
            acknowledged()
        }
    }

    private func notes(_ seed: Int, _ batch: Int, _ random: inout SeededRandom) -> [RecordChange] {
        (0...random.next(4)).map { _ in
            let id = RecordID("Note", 1 + random.next(300))
            if random.next(5) == 0 { return .delete(id) }
            return .upsert(
                Record(
                    id,
                    [
                        "title": .text("\(seed) \(batch)"),
                        "stars": random.next(3) == 0 ? .null : .integer(Int64(random.next(5))),
                        "changed": .integer(Int64(seed * 1_000_000 + batch)),
                    ]))
        }
    }

    /// For an unknown store: some records of each class with a text.
    private func someKeys() throws -> [RecordID] {
        struct Enough: Error {}
        var keys: [RecordID] = []
        for model in old.models where Self.text(of: model) != nil {
            var found: [RecordID] = []
            do {
                try old.scan(model) { key, _ in
                    if found.count == 20 { throw Enough() }
                    found.append(RecordID(model.name, key))
                }
            } catch is Enough {}
            keys += found
        }
        return keys
    }

    private static func text(of model: RecordModel) -> String? {
        model.fields.first { $0.kind == .text && $0.name != "coreDataEntity" }?.name
    }

    private func renamed(
        _ keys: [RecordID], _ seed: Int, _ batch: Int, _ random: inout SeededRandom
    ) throws -> [RecordChange] {
        // Deleted records are not inserted again, since their unknown properties would be missing.
        let wanted = (0...random.next(4)).map { _ in keys[random.next(keys.count)] }
        let found = try old.records(wanted)
        return wanted.compactMap { id in
            guard found[id] != nil, let model = old.models.first(where: { $0.name == id.model }),
                let field = Self.text(of: model)
            else { return nil }
            return .upsert(Record(id, [field: .text("\(seed) \(batch)")]))
        }
    }
}

/// Random numbers: the same ones for the same seed.
struct SeededRandom {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(_ count: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(count))
    }
}
