import Foundation
import Strata

/// Runs the code that the pages show, on a file in the temporary directory, and prints the results.
@main
enum GuideMain {
    static func main() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("guide-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { remove(directory) }
        let file = directory.appendingPathComponent("books.strata")
        try writeVersion1(file)
        let configuration = Shelf.configuration(file)
        try run(configuration)
        try await Watching.rate("978-0-00-000002-2", 4, configuration)
    }

    private static func run(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        print("migrated: \(realm.objects(Book.self).map(\.title).joined(separator: ", "))")
        try Reading.add(to: realm)
        try Reading.update(in: realm)
        try Reading.insert([["isbn": "978-0-00-000002-2", "title": "Logs", "pages": 120]], into: realm)
        print(Reading.ask(realm).joined(separator: "; "))
        let books = realm.objects(Book.self)
        let token = Watching.observe(books) { print("observer: \($0)") }
        // On a thread without a run loop, observers are called during refresh.
        realm.refresh()
        guard let book = books.where({ $0.title == "Logs" }).first else { return print("Logs is not there") }
        let done = DispatchSemaphore(value: 0)
        Watching.finish(book, configuration, done)
        done.wait()
        realm.refresh()
        token.invalidate()
        print("damaged places: \(try realm.verify().count)")
        guard let first = realm.object(ofType: Book.self, forPrimaryKey: "978-0-00-000001-1") else { return }
        try Reading.remove(first, from: realm)
        print("\(books.count) books, \(realm.objects(Note.self).count) notes")
    }

    private static func writeVersion1(_ file: URL) throws {
        let old = Realm.Configuration(fileURL: file, schemaVersion: 1, objectTypes: [Version1.Book.self])
        let realm = try Realm(configuration: old)
        try realm.write {
            realm.create(Version1.Book.self, value: ["isbn": "978-0-00-000000-0", "name": "From version 1"])
        }
    }

    private static func remove(_ directory: URL) {
        do { try FileManager.default.removeItem(at: directory) } catch { print("left behind: \(error)") }
    }
}
