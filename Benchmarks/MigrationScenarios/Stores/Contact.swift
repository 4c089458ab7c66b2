import StoreMigration
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The class that is migrated: values of each kind, some of them null, and a link.
final class Contact: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var age: Int?
    @Persisted var rating = 0.0
    @Persisted var changed = Date(timeIntervalSinceReferenceDate: 0)
    @Persisted var note: String?
    @Persisted var photo: Data?
    @Persisted var isActive = false
    @Persisted var friend: Contact?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    static let modelName = "Contact"

    static let model = RecordModel(
        modelName, key: "id", hasIntegerKey: true,
        [
            RecordField("name", .text), RecordField("age", .integer, isOptional: true), RecordField("rating", .real),
            RecordField("changed", .date), RecordField("note", .text, isOptional: true),
            RecordField("photo", .data, isOptional: true), RecordField("isActive", .boolean),
            RecordField("friend", .link(to: modelName)),
        ])

    static func recordID(_ id: Int) -> RecordID { RecordID(modelName, id) }
}

/// A contact as it has to be in either store.
struct ContactRow: Equatable, Sendable {
    var id: Int
    var name: String
    var age: Int?
    var rating: Double
    /// Seconds since 2001.
    var changed: Double
    var note: String?
    var photo: [UInt8]?
    var isActive: Bool
    var friend: Int?

    /// Every value is derived from the number of the row: every third row has no age, every fifth the age 0, every
    /// seventh no note, every eleventh an empty one.
    init(number id: Int, friend: Int? = nil) {
        self.id = id
        name = "Contact \(id)"
        age = id % 3 == 0 ? nil : id % 5 == 0 ? 0 : id % 90
        rating = Double(id % 16) / 4
        changed = Double(id) * 60 + 0.125
        note = id % 7 == 0 ? nil : id % 11 == 0 ? "" : "met in \(1_990 + id % 30)"
        photo = id % 4 == 0 ? nil : [UInt8(truncatingIfNeeded: id), UInt8(truncatingIfNeeded: id >> 8)]
        isActive = id % 2 == 0
        self.friend = friend
    }

    init(_ contact: Contact) {
        id = contact.id
        name = contact.name
        age = contact.age
        rating = contact.rating
        changed = contact.changed.timeIntervalSinceReferenceDate
        note = contact.note
        photo = contact.photo.map { [UInt8]($0) }
        isActive = contact.isActive
        friend = contact.friend?.id
    }

    init(
        id: Int, name: String, age: Int?, rating: Double, changed: Double, note: String?, photo: [UInt8]?,
        isActive: Bool, friend: Int?
    ) {
        self.id = id
        self.name = name
        self.age = age
        self.rating = rating
        self.changed = changed
        self.note = note
        self.photo = photo
        self.isActive = isActive
        self.friend = friend
    }

    var recordID: RecordID { Contact.recordID(id) }

    var record: Record {
        Record(
            recordID,
            [
                "name": .text(name), "age": age.map { .integer(Int64($0)) } ?? .null, "rating": .real(rating),
                "changed": .date(changed), "note": note.map { .text($0) } ?? .null,
                "photo": photo.map { .data(Data($0)) } ?? .null, "isActive": .integer(isActive ? 1 : 0),
                "friend": friend.map { .link(.integer(Int64($0))) } ?? .null,
            ])
    }

    /// An object without its link.
    var object: Contact {
        let contact = Contact()
        contact.id = id
        contact.name = name
        contact.age = age
        contact.rating = rating
        contact.changed = Date(timeIntervalSinceReferenceDate: changed)
        contact.note = note
        contact.photo = photo.map { Data($0) }
        contact.isActive = isActive
        return contact
    }
}

/// All contacts of one store, by their numbers.
struct ContactBook: Equatable, Sendable {
    var rows: [Int: ContactRow] = [:]

    init() {}
    init(_ rows: [ContactRow]) { for row in rows { self.rows[row.id] = row } }

    /// A change of one record.
    enum Change: Sendable {
        case put(ContactRow)
        /// Sets one field; the other fields stay.
        case rename(Int, String)
        case delete(Int)

        var recordChange: RecordChange {
            switch self {
            case .put(let row): .upsert(row.record)
            case .rename(let id, let name): .upsert(Record(Contact.recordID(id), ["name": .text(name)]))
            case .delete(let id): .delete(Contact.recordID(id))
            }
        }
    }

    /// Precondition: no change of a batch links to a row that an earlier change of the batch deletes.
    mutating func apply(_ changes: [Change]) {
        var gone: Set<Int> = []
        for change in changes {
            switch change {
            case .put(let row): rows[row.id] = row
            case .rename(let id, let name): rows[id]?.name = name
            case .delete(let id):
                rows[id] = nil
                gone.insert(id)
            }
        }
        if gone.isEmpty { return }
        for (id, row) in rows where row.friend.map(gone.contains) == true { rows[id]?.friend = nil }
    }

    func applying(_ changes: [Change]) -> ContactBook {
        var book = self
        book.apply(changes)
        return book
    }

    /// The numbers of rows that differ, or that only one book has.
    func differences(from other: ContactBook) -> [Int] {
        Set(rows.keys).union(other.rows.keys).filter { rows[$0] != other.rows[$0] }.sorted()
    }

    /// The first difference in words; nil without one.
    func difference(from expected: ContactBook) -> String? {
        guard let id = differences(from: expected).first else { return nil }
        func words(_ row: ContactRow?) -> String { row.map { "\($0)" } ?? "none" }
        return "contact \(id): expected \(words(expected.rows[id])), got \(words(rows[id]))"
    }
}
