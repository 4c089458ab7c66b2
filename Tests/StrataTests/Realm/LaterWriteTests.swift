import Foundation
import Strata
import Testing

/// Writes beside unreadable rows, once their loss is acknowledged.
@Suite(.serialized)
struct LaterWriteTests {
    /// A change, and the classes whose rows it needs: the change fails if rows of one of them are lost.
    enum Change: String, CaseIterable {
        case deleteOwner, clearPart, deleteLinking, deleteAll, deleteResults, update, add

        func callAsFunction(_ realm: Realm) {
            let book = realm.objects(ShelfBook.self).first
            switch self {
            case .deleteOwner: if let book { realm.delete(book) }
            case .clearPart: book?.cover = nil
            case .deleteLinking: realm.delete(realm.objects(ShelfNote.self))
            case .deleteAll: realm.deleteAll()
            case .deleteResults: realm.delete(realm.objects(ShelfBook.self))
            case .update: for book in realm.objects(ShelfBook.self) { book.words = 9 }
            case .add: realm.add(ShelfBook(value: ["id": 100_000]))
            }
        }

        /// Deleting an owner deletes its embedded object, and a note changes its book's list and inverse links. If the
        /// books are lost there is no list to change.
        var needs: Set<String> {
            switch self {
            case .deleteOwner, .deleteResults: ["ShelfCover", "ShelfNote"]
            case .clearPart: ["ShelfCover"]
            case .deleteLinking: ["ShelfNote", "ShelfBook"]
            case .deleteAll: ["ShelfCover", "ShelfNote", "ShelfBook"]
            case .update: []
            case .add: ["ShelfBook"]
            }
        }
    }

    /// A shelf with some or all rows of a class lost, and the loss acknowledged.
    private func shelf(without name: String) throws -> DamagedShelf {
        let shelf = try DamagedShelf()
        let place = try shelf.damagePage("rows of \(name)") {
            if case .objects = $0.loss { return $0.className == name }
            return false
        }
        try #require(place != nil)
        let realm = try Realm(configuration: shelf.configuration { _ in })
        #expect(try realm.verify().count == 1)
        realm.acknowledgeDamage()
        return shelf
    }

    /// The readable contents of all classes.
    private static func contents(_ realm: Realm) -> [String] {
        realm.objects(ShelfBook.self).map { "\($0.id) \($0.words) \($0.cover?.text ?? "-") \($0.notes.count)" }
            + realm.objects(ShelfNote.self).map { "\($0.id) \($0.book?.id ?? -1)" }
    }

    @Test(
        "a change that needs a lost row throws and changes nothing; any other one is made",
        arguments: ["ShelfCover", "ShelfNote", "ShelfBook"])
    func changes(lost: String) throws {
        let shelf = try shelf(without: lost)
        let damaged = try Data(contentsOf: shelf.file.url)
        for change in Change.allCases {
            try shelf.put(damaged)
            let realm = try Realm(configuration: shelf.configuration { _ in })
            let before = Self.contents(realm)
            if change.needs.contains(lost) {
                let error = #expect(throws: Realm.Error.self) { try realm.write { change(realm) } }
                #expect(error?.code == .invalidDatabase, "\(change)")
                #expect(Self.contents(realm) == before, "\(change)")
            } else {
                try realm.write { change(realm) }
                // If the books are lost there is none to change.
                #expect((Self.contents(realm) != before) == (lost != "ShelfBook"), "\(change)")
            }
            let places = try realm.verify()
            #expect(places.count == 1 && places.allSatisfy(\.isAcknowledged), "\(change): the loss is still known")
            try realm.write { realm.create(ShelfNote.self, value: ["id": 1_000_000], update: .modified) }
        }
    }

    @Test(
        "compaction leaves a lost page in place, and keeps all readable rows",
        arguments: [(isAtLaunch: false, isAcknowledged: true), (true, true), (true, false)])
    func compaction(isAtLaunch: Bool, isAcknowledged: Bool) throws {
        let shelf = try shelf(without: "ShelfCover")
        let before: [String]
        do {
            let realm = try Realm(configuration: shelf.configuration { _ in })
            // Frees most of the file.
            try realm.write {
                for book in realm.objects(ShelfBook.self) {
                    book.scan = nil
                    book.pages.removeAll()
                }
            }
            before = Self.contents(realm)
        }
        if !isAcknowledged { try FileManager.default.removeItem(atPath: shelf.file.url.path + ".damage") }
        let heard = Locked<[String?]>([])
        var configuration = shelf.configuration { report in
            if case .damage(let damage) = report { heard.with { $0.append(damage.className) } }
        }
        if isAtLaunch {
            configuration.shouldCompactOnLaunch = { _, _ in true }
        } else {
            configuration.compaction = .online(freeShare: 0.05)
        }
        let realm = try Realm(configuration: configuration)
        #expect(heard.current == ["ShelfCover"] || !isAtLaunch, "what a launch met is told at the open")
        if isAcknowledged {
            for round in 0..<100 { try realm.write { realm.objects(ShelfBook.self).last?.score = Double(round) } }
        } else {
            #expect(throws: Realm.Error.self) { try realm.write {} }
        }
        #expect(Self.contents(realm) == before)
        #expect(try realm.verify().map(\.className) == ["ShelfCover"])
    }
}
