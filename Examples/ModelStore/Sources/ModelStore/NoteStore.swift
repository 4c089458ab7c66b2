import Foundation
import StoreMigration
import Strata

/// The notes as screens see them, with any store behind: JSON goes in, ids come out, and observers of a note get
/// property, old and new value.
final class NoteStore {
    private let writer: DoubleWriter
    private let realm: Realm
    private var tokens: [Int: NotificationToken] = [:]

    /// - Parameter configuration: the new store's, whose notes this thread observes.
    init(_ writer: DoubleWriter, _ configuration: Realm.Configuration) throws {
        self.writer = writer
        realm = try Realm(configuration: configuration)
    }

    struct JSONNote: Codable {
        var id: Int
        var title: String?
        var stars: Int?
        var parent: Int?
        var changed: Int
    }

    /// Writes a list of JSON objects to the stores of the phase. A property that an object does not name keeps its
    /// value.
    /// - Returns: the ids, in the list's order.
    func insert(_ json: Data) throws -> [RecordID] {
        let notes = try JSONDecoder().decode([JSONNote].self, from: json)
        let changes = notes.map { note -> RecordChange in
            var values: [String: FieldValue] = ["changed": .integer(Int64(note.changed))]
            if let title = note.title { values["title"] = .text(title) }
            if let stars = note.stars { values["stars"] = .integer(Int64(stars)) }
            if let parent = note.parent { values["parentNote"] = .link(.integer(Int64(parent))) }
            return .upsert(Record(RecordID("Note", note.id), values))
        }
        try writer.write(changes)
        return changes.map(\.id)
    }

    /// Reads from the store of the phase.
    func models(_ ids: [RecordID]) throws -> [Record] {
        let found = try writer.records(ids)
        return ids.compactMap { found[$0] }
    }

    /// Reports each change of a note as `name old new`, on this thread, until it is released.
    func observe(_ id: Int, _ changed: @escaping (String) -> Void) {
        realm.refresh()
        tokens[id] = realm.object(ofType: Note.self, forPrimaryKey: id)?.observe { [weak self] change in
            switch change {
            case .change(_, let properties):
                for property in properties {
                    changed("\(property.name) \(property.oldValue ?? "nil") \(property.newValue ?? "nil")")
                }
            case .deleted, .error: self?.release(id)
            }
        }
    }

    func release(_ id: Int) { tokens.removeValue(forKey: id)?.invalidate() }

    /// Delivers other threads' changes.
    func refresh() { realm.refresh() }
}
