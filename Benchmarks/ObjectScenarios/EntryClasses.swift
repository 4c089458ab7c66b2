import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A flat class, for sequences of changes.
final class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text = ""
    @Persisted var rank = 0
}

/// An ordered collection of entries.
final class EntryList: Object {
    @Persisted var name = ""
    @Persisted var entries: List<Entry>
}

enum EntryClasses {
    static let all: [ObjectBase.Type] = [Entry.self, EntryList.self]

    static func make(_ id: Int) -> Entry {
        let entry = Entry()
        (entry.id, entry.text, entry.rank) = (id, "text \(id)", id % 7)
        return entry
    }

    /// The line of an object as `make` leaves it.
    static func line(_ id: Int) -> String { "\(id) text \(id), rank \(id % 7)" }

    /// A line for each object, by id.
    static func lines(_ realm: Realm) -> [String] {
        realm.objects(Entry.self).map { ($0.id, "\($0.id) \($0.text), rank \($0.rank)") }
            .sorted { $0.0 < $1.0 }
            .map(\.1)
    }

    static func fill(_ realm: Realm, count: Int) throws {
        try realm.write { for id in 0..<count { realm.add(make(id)) } }
    }
}

extension EntryClasses {
    static func configuration(_ path: String, _ durability: DurabilityClass) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: path), objectTypes: all, durability: durability.ofRealm)
    }
}
