import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A database of Strata with contacts, written and read by objects, without a migration's adapter.
struct ContactFile {
    let path: String

    init(_ path: String) { self.path = path }

    var configuration: Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Contact.self])
    }

    private static let rowsAtOnce = 50_000

    func put(_ rows: some Sequence<ContactRow>) throws {
        let realm = try Realm(configuration: configuration)
        var links: [(Int, Int?)] = []
        realm.beginWrite()
        var inWrite = 0
        for row in rows {
            realm.add(row.object, update: .modified)
            links.append((row.id, row.friend))
            inWrite += 1
            if inWrite == Self.rowsAtOnce {
                try realm.commitWrite()
                realm.beginWrite()
                inWrite = 0
            }
        }
        // Links are set after all rows are there, since a link may lead to any row.
        for (id, friend) in links {
            guard let contact = realm.object(ofType: Contact.self, forPrimaryKey: id) else { continue }
            let target = friend.flatMap { realm.object(ofType: Contact.self, forPrimaryKey: $0) }
            if contact.friend?.id != target?.id { contact.friend = target }
        }
        try realm.commitWrite()
    }

    func delete(_ ids: [Int]) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for id in ids {
                if let contact = realm.object(ofType: Contact.self, forPrimaryKey: id) { realm.delete(contact) }
            }
        }
    }

    func contents() throws -> ContactBook {
        let realm = try Realm(configuration: configuration)
        realm.refresh()
        return ContactBook(realm.objects(Contact.self).map { ContactRow($0) })
    }

    func rows(_ ids: [Int]) throws -> [ContactRow?] {
        let realm = try Realm(configuration: configuration)
        realm.refresh()
        return ids.map { realm.object(ofType: Contact.self, forPrimaryKey: $0).map { ContactRow($0) } }
    }
}
