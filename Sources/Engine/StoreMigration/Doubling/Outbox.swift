import Dispatch
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state that a migration needs after a crash, in its own database. A failure of either store does not affect it,
/// and neither store gets an unknown table.
///
/// 1. An entry is durable before either store has any part of its batch.
/// 2. An entry is removed only after both stores have it. The last completed entry may stay until the next one is
/// added, and is removed in the same commit. That saves a sync, and repeating a batch changes nothing.
/// 3. Entries are written in the order of their numbers. The first store has all but perhaps the newest one. The other
/// store may have the oldest one, and lacks the later ones.
///
/// Concurrency: used on the queue that it was made for.
final class Outbox {
    final class Entry: Object {
        @Persisted(primaryKey: true) var sequence = 0
        @Persisted var changes = Data()
        @Persisted var first = ""
        /// Seconds since 2001.
        @Persisted var time = 0.0
        override class func className() -> String { "MigrationOutboxEntry" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class State: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var phase = 0
        @Persisted var isRetired = false
        @Persisted var nextSequence = 1
        override class func className() -> String { "MigrationState" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// Notes about records. `kind` 0: deleted since the stores were last equal. `kind` 1: changed since the cut-over.
    /// `kind` 2: a row without links, inserted by mending.
    final class Note: Object {
        @Persisted(primaryKey: true) var id = ""
        @Persisted(indexed: true) var kind = 0
        @Persisted var record = Data()
        override class func className() -> String { "MigrationNote" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }

        enum Kind: Int { case deleted, changed, halfMade }
    }

    struct HalfMade: Codable {
        var side: StoreSide
        var ids: [RecordID]
    }

    struct Waiting {
        var sequence: Int
        var changes: [RecordChange]
        var first: StoreSide
        var time: Double
    }

    private let realm: Realm
    private let limit: Int
    /// Written to both stores, but not removed yet.
    private var done: [Int] = []
    private(set) var waitingCount: Int

    init(_ url: URL, queue: DispatchQueue, limit: Int) throws {
        let configuration = Realm.Configuration(
            fileURL: url, objectTypes: [Entry.self, State.self, Note.self])
        realm = try Realm(configuration: configuration, queue: queue)
        self.limit = limit
        waitingCount = realm.objects(Entry.self).count
        if realm.object(ofType: State.self, forPrimaryKey: 0) == nil { try realm.write { realm.add(State()) } }
    }

    private func state() throws -> State {
        if let state = realm.object(ofType: State.self, forPrimaryKey: 0) { return state }
        throw MigrationError(.outboxFailed, "the outbox has lost its state; reconcile the stores with a new outbox")
    }

    var phase: MigrationPhase {
        get throws { MigrationPhase(rawValue: try state().phase) ?? .old }
    }

    var isRetired: Bool { get throws { try state().isRetired } }

    // MARK: Entries

    /// Makes a batch durable, with notes of its deletions.
    func add(_ changes: [RecordChange], first: StoreSide) throws -> Int {
        if waitingCount >= limit {
            throw MigrationError(
                .outboxFailed,
                "\(waitingCount) batches wait for the other store; mend it and call drain(), or giveUpWaiting()")
        }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = Self.infinities
        let coded = try encoder.encode(changes)
        let sequence = try writing { () -> Int in
            let state = try state()
            let sequence = state.nextSequence
            state.nextSequence = sequence + 1
            takeOut(done)
            let entry = Entry()
            entry.sequence = sequence
            entry.changes = coded
            entry.first = first.rawValue
            entry.time = Date().timeIntervalSinceReferenceDate
            realm.add(entry)
            for change in changes {
                switch change {
                case .delete(let id): try note(id, .deleted)
                case .upsert(let record): remove(record.id, .deleted)
                }
            }
            return sequence
        }
        done = []
        waitingCount += 1
        return sequence
    }

    /// Marks an entry that both stores have. The next entry or ``settle()`` removes it.
    func finish(_ sequence: Int) {
        done.append(sequence)
        waitingCount -= 1
    }

    /// Removes an entry of which nothing was written.
    func withdraw(_ sequence: Int) throws {
        try writing { takeOut([sequence]) }
        waitingCount -= 1
    }

    /// Removes all waiting entries.
    func withdrawAll() throws {
        try writing { realm.delete(realm.objects(Entry.self)) }
        done = []
        waitingCount = 0
    }

    /// Removes the completed entry.
    func settle() throws {
        if done.isEmpty { return }
        try writing { takeOut(done) }
        done = []
    }

    /// The waiting entries, the oldest first.
    func waiting() throws -> [Waiting] {
        let finished = Set(done)
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try realm.objects(Entry.self).sorted(by: \.sequence, ascending: true)
            .filter { !finished.contains($0.sequence) }.map { entry in
                guard let first = StoreSide(rawValue: entry.first) else {
                    throw MigrationError(
                        .outboxFailed, "entry \(entry.sequence) of the outbox names no store; reconcile the stores")
                }
                let changes = try decoder.decode([RecordChange].self, from: entry.changes)
                return Waiting(sequence: entry.sequence, changes: changes, first: first, time: entry.time)
            }
    }

    private static let infinities = JSONEncoder.NonConformingFloatEncodingStrategy.convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")

    private func takeOut(_ sequences: [Int]) {
        for sequence in sequences {
            if let entry = realm.object(ofType: Entry.self, forPrimaryKey: sequence) { realm.delete(entry) }
        }
    }

    // MARK: Notes

    /// Adds the notes in one commit, before the new store has any of the changes.
    func noteChanges(_ changes: [RecordChange]) throws {
        try writing { for change in changes { try note(change.id, .changed) } }
    }

    func noted(_ kind: Note.Kind) throws -> [RecordID] {
        try realm.objects(Note.self).where { $0.kind == kind.rawValue }.map {
            try JSONDecoder().decode(RecordID.self, from: $0.record)
        }
    }

    func hasNotes(_ kind: Note.Kind) -> Bool {
        !realm.objects(Note.self).where { $0.kind == kind.rawValue }.isEmpty
    }

    func isNoted(_ id: RecordID, _ kind: Note.Kind) -> Bool {
        realm.object(ofType: Note.self, forPrimaryKey: Self.name(id, kind)) != nil
    }

    func forget(_ kind: Note.Kind) throws {
        try writing { realm.delete(realm.objects(Note.self).where { $0.kind == kind.rawValue }) }
    }

    func noteHalfMade(_ ids: [RecordID], _ side: StoreSide) throws {
        try writing { try addHalfMade(ids, side) }
    }

    /// Replaces the existing notes.
    func setHalfMade(_ ids: [StoreSide: Set<RecordID>]) throws {
        try writing {
            realm.delete(realm.objects(Note.self).where { $0.kind == Note.Kind.halfMade.rawValue })
            for (side, ids) in ids where !ids.isEmpty { try addHalfMade(Array(ids), side) }
        }
    }

    func halfMade() throws -> [StoreSide: Set<RecordID>] {
        var found: [StoreSide: Set<RecordID>] = [:]
        for note in realm.objects(Note.self).where({ $0.kind == Note.Kind.halfMade.rawValue }) {
            let made = try JSONDecoder().decode(HalfMade.self, from: note.record)
            found[made.side, default: []].formUnion(made.ids)
        }
        return found
    }

    private func addHalfMade(_ ids: [RecordID], _ side: StoreSide) throws {
        let note = Note()
        note.id = "2 \(UUID().uuidString)"
        note.kind = Note.Kind.halfMade.rawValue
        note.record = try JSONEncoder().encode(HalfMade(side: side, ids: ids))
        realm.add(note)
    }

    /// - Parameter forgetting: kinds of notes without meaning in the phase.
    func setPhase(_ phase: MigrationPhase, retiring: Bool = false, forgetting: Note.Kind? = nil) throws {
        try writing {
            let state = try state()
            state.phase = phase.rawValue
            if retiring { state.isRetired = true }
            if let kind = forgetting { realm.delete(realm.objects(Note.self).where { $0.kind == kind.rawValue }) }
        }
    }

    private static func name(_ id: RecordID, _ kind: Note.Kind) -> String {
        let form =
            switch id.key {
            case .integer: "i"
            case .text: "t"
            }
        return "\(kind.rawValue) \(id.model.utf8.count) \(id.model) \(form) \(id.key)"
    }

    private func note(_ id: RecordID, _ kind: Note.Kind) throws {
        let name = Self.name(id, kind)
        if realm.object(ofType: Note.self, forPrimaryKey: name) != nil { return }
        let note = Note()
        note.id = name
        note.kind = kind.rawValue
        note.record = try JSONEncoder().encode(id)
        realm.add(note)
    }

    private func remove(_ id: RecordID, _ kind: Note.Kind) {
        if let note = realm.object(ofType: Note.self, forPrimaryKey: Self.name(id, kind)) { realm.delete(note) }
    }

    private func writing<Output>(_ body: () throws -> Output) throws -> Output {
        do { return try realm.write(body) } catch let error as MigrationError { throw error } catch {
            throw MigrationError(.outboxFailed, "the outbox cannot be written; nothing was changed", cause: error)
        }
    }
}
