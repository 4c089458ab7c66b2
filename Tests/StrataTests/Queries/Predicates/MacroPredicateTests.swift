import Foundation
import Strata
import Testing

/// `#Predicate` of Foundation, evaluated by the database.
@Suite struct MacroPredicateTests {
    final class Author: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var rating: Double?
        @Persisted var isActive = false
        @Persisted var mood = Mood.calm
        @Persisted var born = Date(timeIntervalSince1970: 0)
        @Persisted var mentor: Author?
        @Persisted var books: List<Book>
        @Persisted var tags: List<String>
        @Persisted var marks: MutableSet<Int>

        var isAdult: Bool { age >= 18 }
        var initials: String { "\(name.prefix(1))\(mood)" }
    }

    final class Book: Object {
        @Persisted var title = ""
        @Persisted var pages = 0
        @Persisted(originProperty: "books") var authors: LinkingObjects<Author>
    }

    private func authors() throws -> Results<Author> {
        let realm = try makeRealm([Author.self, Book.self])
        try realm.write {
            for id in 0..<24 {
                let author = Author()
                author.id = id
                author.name = ["Ann", "Bob", "Cäsar", ""][id % 4]
                author.age = id
                author.rating = id % 3 == 0 ? nil : Double(id) / 2
                author.isActive = id % 2 == 0
                author.mood = id % 5 == 0 ? .cross : .calm
                author.born = Date(timeIntervalSince1970: Double(id) * 1000)
                realm.add(author)
                for place in 0..<(id % 4) {
                    let book = Book()
                    book.title = "title \(place)"
                    book.pages = id * 10 + place
                    author.books.append(book)
                }
                author.tags.append(objectsIn: ["t\(id % 3)", "all"].prefix(id % 3))
                author.marks.insert(objectsIn: [id % 4, id % 5])
            }
            let all = realm.objects(Author.self)
            for id in 1..<24 where id % 5 != 0 { all[id].mentor = all[id / 2] }
        }
        return realm.objects(Author.self)
    }

    /// The database's answer, and that of Foundation, which evaluates each object.
    private func check(
        _ authors: Results<Author>, _ predicate: Foundation.Predicate<Author>,
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try Array(authors).filter { try predicate.evaluate($0) }.map(\.id)
        #expect(try authors.where(predicate).map(\.id) == expected, sourceLocation: place)
        let filtered: Results<Author> = try authors.filter(predicate)
        #expect(filtered.count == expected.count, sourceLocation: place)
        #expect(!expected.isEmpty && expected.count < authors.count, "it tells nothing", sourceLocation: place)
    }

    @Test("comparisons, logic and captured values mean the same as in memory")
    func sameAsInMemory() throws {
        let authors = try authors()
        let (age, name) = (7, "Bob")
        let day = Date(timeIntervalSince1970: 9000)
        try check(authors, #Predicate { $0.age > age && $0.name == name })
        try check(authors, #Predicate { $0.age <= age || !($0.name != name) })
        try check(authors, #Predicate { 7 < $0.age })
        try check(authors, #Predicate { $0.isActive && !($0.age == 4) })
        try check(authors, #Predicate { $0.isActive == false })
        try check(authors, #Predicate { $0.born >= day })
        try check(authors, #Predicate { ($0.age > age) == false })
        try check(authors, #Predicate { $0.age > age + 3 })
        try check(authors, #Predicate { $0.isActive ? $0.age > 10 : $0.age < 5 })
        try check(authors, #Predicate { $0.age > $0.id - 0 || $0.id == 3 }, allowingArithmetic: false)
    }

    /// Arithmetic with a property is refused, with its name.
    private func check(
        _ authors: Results<Author>, _ predicate: Foundation.Predicate<Author>, allowingArithmetic: Bool
    ) throws {
        let error = #expect(throws: Realm.Error.self) { try authors.where(predicate) }
        #expect(error?.code == .invalidInput && error?.message.contains("Arithmetic") == true)
    }

    @Test("texts and ranges")
    func textsAndRanges() throws {
        let authors = try authors()
        let part = "ä"
        let range = 3...9
        let (upwards, below) = (7..., ..<7)
        try check(authors, #Predicate { $0.name.contains(part) })
        try check(authors, #Predicate { $0.name.starts(with: "A") })
        try check(authors, #Predicate { $0.name.isEmpty })
        try check(authors, #Predicate { (3...9).contains($0.age) })
        try check(authors, #Predicate { (3..<9).contains($0.age) })
        try check(authors, #Predicate { range.contains($0.age) })
        try check(authors, #Predicate { upwards.contains($0.age) })
        try check(authors, #Predicate { below.contains($0.age) })
        try check(authors, #Predicate { [1, 5, 90].contains($0.age) })
    }

    @Test("optional values and links")
    func optionalsAndLinks() throws {
        let authors = try authors()
        try check(authors, #Predicate { $0.rating == nil })
        try check(authors, #Predicate { $0.mentor != nil && $0.rating == 2 })
        try check(authors, #Predicate { ($0.rating ?? 9) > 5 })
        try check(authors, #Predicate { ($0.rating ?? 0) < 5 })
        try check(authors, #Predicate { 5 > ($0.rating ?? 0) })
        try check(authors, #Predicate { $0.mentor?.name == "Bob" })
        try check(authors, #Predicate { $0.mentor?.name != "Bob" })
        try check(authors, #Predicate { $0.mentor?.mentor?.name == "Bob" })
        try check(authors, #Predicate { ($0.mentor?.age ?? 100) > 5 })
        try check(authors, #Predicate { $0.mentor.flatMap { $0.rating } == 2 })
        try check(authors, #Predicate { if let rating = $0.rating { rating != 2 } else { false } })
        try check(authors, #Predicate { if let rating = $0.rating { rating > 4 } else { true } })
        try check(authors, #Predicate { $0.rating.flatMap { $0 > 4 } == true })
        try check(authors, #Predicate { $0.rating != nil && $0.rating! > 4 })
    }

    @Test("collections")
    func filteredCollections() throws {
        let authors = try authors()
        let limit = 100
        try check(authors, #Predicate { $0.books.count > 1 })
        try check(authors, #Predicate { $0.books.isEmpty })
        try check(authors, #Predicate { $0.books.contains { $0.pages > limit && $0.title == "title 0" } })
        try check(authors, #Predicate { $0.books.allSatisfy { $0.pages > limit } })
        try check(authors, #Predicate { $0.books.filter { $0.pages > limit }.count > 1 })
        try check(authors, #Predicate { $0.books.filter { $0.pages > limit }.isEmpty })
        try check(authors, #Predicate { $0.tags.contains("all") })
        try check(authors, #Predicate { $0.tags.contains { $0.starts(with: "t1") } })
        try check(authors, #Predicate { $0.tags.allSatisfy { $0 == "t1" } })
        try check(authors, #Predicate { $0.marks.contains(3) })
        try check(authors, #Predicate { author in author.books.contains { $0.pages == author.age } || author.id == 1 })
    }

    @Test("a predicate is one step of a chain, and is observed like any other")
    func stepOfAChain() throws {
        let authors = try authors()
        let active = try authors.where(#Predicate { $0.isActive }).sorted(byKeyPath: "age", ascending: false)
        #expect(active.first?.age == 22 && active.explain().contains("isActive"))
        try authors.realm?.write { authors[23].isActive = true }
        #expect(active.first?.age == 23)
    }

    @Test("an unsupported expression is an error that shows it")
    func unsupportedExpression() throws {
        let authors = try authors()
        func refused(_ predicate: Foundation.Predicate<Author>, _ part: String, _ place: SourceLocation) {
            let error = #expect(throws: Realm.Error.self, sourceLocation: place) { try authors.where(predicate) }
            #expect(error?.code == .invalidInput, sourceLocation: place)
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "")", sourceLocation: place)
        }
        refused(#Predicate { $0.age * 2 > 8 }, "Arithmetic", #_sourceLocation)
        refused(#Predicate { $0.age % 2 == 0 }, "IntRemainder", #_sourceLocation)
        refused(#Predicate { $0.isAdult }, "no @Persisted property", #_sourceLocation)
        refused(#Predicate { $0.initials == "Acalm" }, "no @Persisted property", #_sourceLocation)
        refused(#Predicate { $0.name.count > 3 }, "a property of String", #_sourceLocation)
        refused(#Predicate { $0.tags.contains { $0 == "a" || $0 == "b" } }, "more than one", #_sourceLocation)
    }
}
