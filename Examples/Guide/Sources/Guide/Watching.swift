import Foundation
import Strata

/// Each thread has a Realm of its own: a configuration, a key or a reference may go from one thread to another.
enum Watching {
    static func finish(_ book: Book, _ configuration: Realm.Configuration, _ done: DispatchSemaphore) {
        let reference = ThreadSafeReference(to: book)
        DispatchQueue.global().async {
            defer { done.signal() }
            do {
                let realm = try Realm(configuration: configuration)
                guard let book = realm.resolve(reference) else { return }
                try realm.write { book.pages += 1 }
            } catch {
                print("not written: \(error)")
            }
        }
    }

    /// Calls `told` with the number of books, and then with every change of a title or of a number of pages.
    static func observe(_ books: Results<Book>, _ told: @escaping (String) -> Void) -> NotificationToken {
        books.observe(keyPaths: ["title", "pages"]) { change in
            switch change {
            case .initial(let books): told("\(books.count) at first")
            case .update(_, let deletions, let insertions, let modifications):
                told("\(deletions.count) gone, \(insertions.count) new, \(modifications.count) changed")
            case .error(let error): told("\(error)")
            }
        }
    }

    /// Opens and writes without blocking the main actor.
    @MainActor static func rate(_ isbn: String, _ stars: Int, _ configuration: Realm.Configuration) async throws {
        let realm = try await Realm.open(configuration: configuration)
        try await realm.asyncWrite {
            realm.object(ofType: Book.self, forPrimaryKey: isbn)?.ratings["Barbara"] = stars
        }
    }
}
