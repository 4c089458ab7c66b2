import Foundation
import Strata

/// Writes and queries, each as a page explains it.
enum Reading {
    static func add(to realm: Realm) throws {
        try realm.write {
            let book = Book()
            book.isbn = "978-0-00-000001-1"
            book.title = "Trees of pages"
            book.pages = 320
            book.tags.insert("storage")
            book.ratings["Ada"] = 5
            let author = Author()
            author.name = "Grace"
            book.authors.append(author)
            realm.add(book)
        }
    }

    static func update(in realm: Realm) throws {
        guard let book = realm.object(ofType: Book.self, forPrimaryKey: "978-0-00-000001-1") else { return }
        try realm.write {
            book.finished = Date(timeIntervalSince1970: 1_700_000_000)
            let note = Note()
            note.text = "How does it survive a loss of power?"
            note.kind = .question
            book.notes.append(note)
        }
    }

    /// Writes books that come from elsewhere: changes those whose primary keys the file has, and creates the others.
    static func insert(_ values: [[String: Any]], into realm: Realm) throws {
        try realm.write {
            for value in values { realm.create(Book.self, value: value, update: .modified) }
        }
    }

    static func ask(_ realm: Realm) -> [String] {
        let long = realm.objects(Book.self).where { $0.pages > 200 }.sorted(by: \.title)
        let asked = realm.objects(Book.self).where { $0.notes.kind == .question && $0.tags.contains("storage") }
        let byGrace = realm.objects(Author.self).where { $0.name == "Grace" }.first?.books.count ?? 0
        let pages: Int = realm.objects(Book.self).sum(of: \.pages)
        return long.map(\.title) + ["\(asked.count) with a question, \(byGrace) by Grace, \(pages) pages"]
    }

    static func remove(_ book: Book, from realm: Realm) throws {
        try realm.write { realm.delete(book) }
        print("gone: \(book.isInvalidated), reads as '\(book.title)'")
        do {
            print(try book.read(\.title))
        } catch Realm.Error.objectDeleted {
            print("and read says that it is gone")
        }
    }
}
