import Foundation
import Strata
import StrataStorage

final class ShelfCover: EmbeddedObject {
    @Persisted var text: String
    @Persisted var size: Int
}

final class ShelfNote: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var stars: Int
    @Persisted var book: ShelfBook?
}

final class ShelfBook: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var title: String
    @Persisted(indexed: true) var words: Int
    @Persisted var score: Double
    @Persisted var cover: ShelfCover?
    @Persisted var scan: Data?
    @Persisted var notes: List<ShelfNote>
    @Persisted var pages: List<Int>
    @Persisted var tags: MutableSet<String>
    @Persisted var names: Map<String, String>
    @Persisted(originProperty: "book") var inverse: LinkingObjects<ShelfNote>
}

/// A closed file that holds every kind of property, and damaged copies of it.
final class DamagedShelf {
    static let types: [ObjectBase.Type] = [ShelfCover.self, ShelfNote.self, ShelfBook.self]
    let file = TemporaryFile()
    /// The bytes of the undamaged file.
    let sound: Data
    let key: Data?
    private let books: Int

    init(books: Int = 120, key: Data? = nil, isPlain: Bool = false) throws {
        self.books = books
        self.key = key
        var configuration = file.configuration(Self.types)
        configuration.durability = .full
        configuration.encryptionKey = key
        if isPlain { try Self.fillPlainly(configuration, books) } else { try Self.fill(configuration, books) }
        sound = try Data(contentsOf: file.url)
    }

    deinit { try? FileManager.default.removeItem(atPath: file.url.path + ".damage") }

    /// Books with integers only, enough for several row groups.
    private static func fillPlainly(_ configuration: Realm.Configuration, _ books: Int) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for number in 0..<books { realm.add(ShelfBook(value: ["id": number, "words": number % 7])) }
        }
    }

    private static func fill(_ configuration: Realm.Configuration, _ books: Int) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for number in 0..<books {
                let book = ShelfBook()
                book.id = 3 * number + 2
                (book.title, book.words, book.score) = ("title \(number)", number % 7, Double(number) / 4)
                book.scan = number % 10 == 0 ? Data(repeating: UInt8(number & 255), count: 6000) : Data([1])
                book.pages.append(objectsIn: number % 30 == 0 ? Array(0..<2500) : [number])
                book.tags.insert(objectsIn: ["a\(number % 5)", "b"])
                for name in 0..<(number % 40 == 0 ? 300 : 2) { book.names["n\(name)"] = "v\(name)" }
                book.cover = ShelfCover(value: ["text": "cover \(number)", "size": number])
                realm.add(book)
                for place in 0..<2 {
                    let note = ShelfNote()
                    (note.id, note.stars, note.book) = (10 * number + place, place, book)
                    realm.add(note)
                    book.notes.append(note)
                }
            }
        }
    }

    /// A configuration with defaults, apart from the file's path and the report handler.
    func configuration(_ report: (@Sendable (Realm.Configuration.Report) -> Void)? = nil) -> Realm.Configuration {
        Realm.Configuration(fileURL: file.url, encryptionKey: key, objectTypes: Self.types, report: report)
    }

    /// The size of a page on disk, and the number of pages after the header.
    var pageBytes: Int { key == nil ? 4096 : 4128 }
    var pageCount: Int { (sound.count - 8192) / pageBytes }

    /// Replaces the file's bytes and leaves its damage record in place.
    func put(_ bytes: Data) throws {
        for suffix in [".log", ".lock"] { try? FileManager.default.removeItem(atPath: file.url.path + suffix) }
        try bytes.write(to: file.url)
    }

    /// Restores the file with `damage` applied to its bytes, and removes its side files.
    func damage(_ damage: (inout Data) -> Void) throws {
        try? FileManager.default.removeItem(atPath: file.url.path + ".damage")
        var bytes = sound
        damage(&bytes)
        try put(bytes)
    }

    /// Flips one bit of a page. Page 0 is the first after the header.
    func flip(page: Int, byte: Int) throws {
        try damage { $0[8192 + page * pageBytes + byte] ^= 0x10 }
    }

    private static let pages = Locked<[String: Int]>([:])

    /// Damages the first page whose loss satisfies `isWanted`, and returns that loss.
    /// - Parameter name: The name of the loss. The page that caused it last time is tried first.
    func damagePage(_ name: String, where isWanted: (Realm.Damage) -> Bool) throws -> Realm.Damage? {
        let known = Self.pages.with { $0[name] }
        for page in [known].compactMap(\.self) + Array(0..<pageCount) {
            try flip(page: page, byte: 1000)
            let found: [Realm.Damage]
            do { found = try Realm(configuration: configuration { _ in }).verify() } catch { continue }
            if let place = found.first(where: isWanted) {
                Self.pages.with { $0[name] = page }
                try flip(page: page, byte: 1000)
                return place
            }
        }
        return nil
    }

    typealias Question = (name: String, answer: (Realm) throws -> String)

    /// Queries of a program on its objects. Each returns its answer as text.
    static var questions: [Question] { walks + searches + properties }

    private static var walks: [Question] {
        [
            ("count", { "\($0.objects(ShelfBook.self).count)" }),
            (
                "loop",
                { realm in
                    var (turns, keys) = (0, 0)
                    for book in realm.objects(ShelfBook.self) { (turns, keys) = (turns + 1, keys &+ book.id) }
                    return "\(turns) \(keys)"
                }
            ),
            (
                "index",
                { realm in
                    let all = realm.objects(ShelfBook.self)
                    return "\(all.count) \((0..<all.count).reduce(0) { $0 &+ all[$1].id })"
                }
            ),
        ]
    }

    private static var searches: [Question] {
        [
            ("filter", { "\($0.objects(ShelfBook.self).where { $0.words == 3 }.count)" }),
            ("text", { "\($0.objects(ShelfBook.self).filter("title CONTAINS '1'").map(\.id))" }),
            ("indexed", { "\($0.objects(ShelfBook.self).where { $0.title == "title 17" }.map(\.id))" }),
            ("link", { "\($0.objects(ShelfNote.self).where { $0.book.words == 2 }.count)" }),
            ("elements", { "\($0.objects(ShelfBook.self).where { $0.pages.contains(2499) }.count)" }),
            ("sorted", { "\($0.objects(ShelfBook.self).sorted(by: \.title).map(\.id))" }),
            (
                "sum",
                { realm in
                    let all = realm.objects(ShelfBook.self)
                    return "\(all.sum(of: \.words)) \(String(describing: all.max(of: \.score)))"
                }
            ),
            ("distinct", { "\($0.objects(ShelfBook.self).distinct(by: [\ShelfBook.words]).count)" }),
            (
                "sections",
                { realm in
                    let sections = realm.objects(ShelfBook.self).sectioned(by: \.words)
                    return "\(sections.count) \(sections.map(\.count).reduce(0, +))"
                }
            ),
        ]
    }

    private static var properties: [Question] {
        [
            (
                "key",
                { realm in
                    "\((0..<120).compactMap { realm.object(ofType: ShelfBook.self, forPrimaryKey: 3 * $0 + 2)?.words })"
                }
            ),
            (
                "values",
                { realm in
                    realm.objects(ShelfBook.self).map {
                        "\($0.title) \($0.score) \($0.cover?.size ?? -1) \($0.scan?.count ?? -1)"
                    }
                    .joined(separator: ",")
                }
            ),
            (
                "lists",
                { realm in
                    let books = realm.objects(ShelfBook.self)
                    return "\(books.map { [$0.pages.count, $0.pages.sum(), $0.notes.sum(of: \.stars)] })"
                }
            ),
            ("sets", { realm in "\(realm.objects(ShelfBook.self).map { $0.tags.sorted().joined() })" }),
            (
                "maps",
                { realm in "\(realm.objects(ShelfBook.self).map { "\($0.names.count) \($0.names["n1"] ?? "-")" })" }
            ),
            ("inverse", { realm in "\(realm.objects(ShelfBook.self).map { $0.inverse.map(\.id).reduce(0, +) })" }),
            ("back", { realm in "\(realm.objects(ShelfNote.self).map { $0.book?.id ?? -1 })" }),
            (
                "frozen",
                { realm in
                    let frozen = realm.freeze().objects(ShelfBook.self)
                    return "\(frozen.count) \(frozen.map(\.words).reduce(0, +))"
                }
            ),
            (
                "observer",
                { realm in
                    var told = ""
                    let token = realm.objects(ShelfBook.self).where { $0.words > 1 }.observe { change in
                        if case .initial(let books) = change { told += "\(books.count)" }
                    }
                    token.invalidate()
                    return told
                }
            ),
        ]
    }
}
