import Foundation
import Strata
import Testing

/// The rules once damage is known: in the Realm that found it, in others, in later sessions.
@Suite(.serialized)
struct KnownDamageTests {
    /// A file with several row groups of books, one of which is unreadable. `lost` is the number of books in that one.
    private func shelfWithLostBooks(key: Data? = nil) throws -> (DamagedShelf, Realm.Damage, lost: Int) {
        let shelf = try DamagedShelf(books: Self.books, key: key, isPlain: true)
        let place = try #require(
            try shelf.damagePage(key == nil ? "books" : "sealed books") {
                if case .objects(let keys, let count?) = $0.loss {
                    return $0.className == "ShelfBook" && count > 0 && keys.upperBound < Int64(Self.books)
                }
                return false
            })
        guard case .objects(_, let count?) = place.loss else { throw Realm.Error(.fail) }
        return (shelf, place, count)
    }

    private static let books = 9000

    /// Expects no damage report. The test itself deletes the file before its last Realm closes.
    private static let noDamage: @Sendable (Realm.Configuration.Report) -> Void = { report in
        if case .closeFailed = report { return }
        Issue.record("\(report)")
    }

    /// Reads every property of every book.
    private static func readAll(_ realm: Realm) {
        for book in realm.objects(ShelfBook.self) { _ = (book.id, book.title, book.words, book.score, book.scan) }
        for property in ["cover", "notes", "pages", "tags", "names"] {
            for book in realm.objects(ShelfBook.self) { _ = "\(book[property] ?? 0)" }
        }
    }

    @Test("writes are refused until the damage is acknowledged")
    func writesAreRefused() async throws {
        let (shelf, _, lostBooks) = try shelfWithLostBooks()
        let realm = try Realm(configuration: shelf.configuration { _ in })
        let before = realm.objects(ShelfBook.self).count
        #expect(before == Self.books, "the count is the tree's until damage is known")
        Self.readAll(realm)
        #expect(realm.objects(ShelfBook.self).count == before - lostBooks)
        let error = try #require(throws: Realm.Error.self) { try realm.write {} }
        #expect(error.code == .damaged)
        #expect(error.message.contains("acknowledgeDamage()"))
        #expect(error.fileURL?.path == shelf.file.url.path)
        realm.acknowledgeDamage()
        try realm.write { realm.add(ShelfNote(value: ["id": -5])) }
        #expect(realm.object(ofType: ShelfNote.self, forPrimaryKey: -5) != nil)
        #expect(realm.damage.allSatisfy { $0.isAcknowledged })
    }

    @Test("a later session knows the damage, reports it and refuses writes")
    func stateOfTheFile() throws {
        let (shelf, place, lostBooks) = try shelfWithLostBooks()
        do {
            let realm = try Realm(configuration: shelf.configuration { _ in })
            Self.readAll(realm)
        }
        // A later session knows the damage, reports it, and does not write.
        let heard = Locked<[Realm.Damage]>([])
        let realm = try Realm(
            configuration: shelf.configuration { report in
                if case .damage(let damage) = report { heard.with { $0.append(damage) } }
            })
        #expect(heard.current.map(\.page) == [place.page])
        #expect(realm.damage.map(\.page) == [place.page])
        #expect(realm.objects(ShelfBook.self).count == Self.books - lostBooks)
        #expect(throws: Realm.Error.self) { try realm.write {} }
        realm.acknowledgeDamage()
    }

    @Test("an acknowledgement is remembered, and a new damaged place refuses writes again")
    func rememberedAcknowledgement() throws {
        let (shelf, place, _) = try shelfWithLostBooks()
        do {
            let realm = try Realm(configuration: shelf.configuration { _ in })
            Self.readAll(realm)
            realm.acknowledgeDamage()
            try realm.write { realm.add(ShelfNote(value: ["id": -7])) }
        }
        do {
            let realm = try Realm(configuration: shelf.configuration { _ in })
            #expect(realm.damage.count == 1 && realm.damage[0].isAcknowledged)
            try realm.write { realm.add(ShelfNote(value: ["id": -8])) }
        }
        // Damages another page of values.
        var bytes = try Data(contentsOf: shelf.file.url)
        var isHit = false
        for page in stride(from: bytes.count / 4096 - 1, to: 2, by: -1) where page != place.page && !isHit {
            var harmed = bytes
            harmed[page * 4096 + 900] ^= 1
            try harmed.write(to: shelf.file.url)
            guard let realm = try? Realm(configuration: shelf.configuration { _ in }) else { continue }
            isHit = try realm.verify().contains { !$0.isAcknowledged }
            if isHit { #expect(throws: Realm.Error.self) { try realm.write {} } }
        }
        #expect(isHit)
        bytes.removeAll()
    }

    @Test("reading goes on, and a copy says what is missing")
    func copiesSayWhatIsMissing() throws {
        for key in [nil, Data(repeating: 3, count: 64)] {
            let (shelf, _, lostBooks) = try shelfWithLostBooks(key: key)
            let realm = try Realm(configuration: shelf.configuration { _ in })
            let url = shelf.file.url.appendingPathExtension("copy")
            defer { try? FileManager.default.removeItem(at: url) }
            let missing = try realm.writeCopy(toFile: url, encryptionKey: key)
            let books = try #require(missing.first { $0.className == "ShelfBook" })
            // A salvage keeps rows that lost a column; a reader skips them.
            let incomplete = books.lostProperties.values.max() ?? 0
            #expect(max(books.objectsLost, incomplete) == lostBooks)
            var copied = shelf.configuration(Self.noDamage)
            copied.fileURL = url
            let copy = try Realm(configuration: copied)
            #expect(copy.objects(ShelfBook.self).count == Self.books - books.objectsLost)
            #expect(try copy.verify().isEmpty)
            Self.readAll(realm)
            #expect(realm.objects(ShelfBook.self).count == Self.books - lostBooks)
        }
    }

    @Test("deleting a file deletes its record of damage")
    func deletedFile() throws {
        let (shelf, _, _) = try shelfWithLostBooks()
        do {
            let realm = try Realm(configuration: shelf.configuration { _ in })
            Self.readAll(realm)
        }
        let record = shelf.file.url.path + ".damage"
        #expect(FileManager.default.fileExists(atPath: record))
        #expect(try Realm.deleteFiles(for: shelf.configuration()))
        #expect(!FileManager.default.fileExists(atPath: record))
    }

    @Test("a file that is no record of damage is passed over")
    func invalidRecord() throws {
        let shelf = try DamagedShelf(books: 20)
        let texts = [
            "", "rubbish", "strata-damage 1 1 2\nplace 5 checksum 1 rows 1 2 3\n",
            "strata-damage 9 \(UInt64.max)\n", String(repeating: "place ", count: 300_000),
        ]
        for text in texts {
            try shelf.damage { _ in }
            try Data(text.utf8).write(to: URL(fileURLWithPath: shelf.file.url.path + ".damage"))
            let realm = try Realm(configuration: shelf.configuration(Self.noDamage))
            try realm.write { realm.add(ShelfNote(value: ["id": -1])) }
            #expect(realm.damage.isEmpty)
        }
    }

    @Test("an observer hears of damage once, and goes on after the acknowledgement")
    func observersGoOn() throws {
        let (shelf, _, lostBooks) = try shelfWithLostBooks()
        let realm = try Realm(configuration: shelf.configuration { _ in })
        var told: [String] = []
        let token = realm.objects(ShelfBook.self).observe { change in
            switch change {
            case .initial: told.append("initial")
            case .update(let books, let deletions, let insertions, _):
                told.append("update \(books.count) \(deletions.count) \(insertions.count)")
            case .error(let error): told.append("error \((error as? Realm.Error)?.code.rawValue ?? "?")")
            }
        }
        Self.readAll(realm)
        realm.refresh()
        #expect(told == ["initial", "error invalidDatabase"])
        realm.acknowledgeDamage()
        let left = Self.books - lostBooks
        // The highest key: the lost page is not written.
        try realm.write { realm.add(ShelfBook(value: ["id": 1_000_000])) }
        #expect(told.dropFirst(2) == ["update \(left + 1) 0 1"])
        token.invalidate()
    }

    @Test("a lost object is neither changed nor replaced")
    func lostStaysUnchanged() throws {
        let (shelf, _, lostBooks) = try shelfWithLostBooks()
        let realm = try Realm(configuration: shelf.configuration { _ in })
        Self.readAll(realm)
        let all = Set(0..<Self.books)
        let lost = all.subtracting(realm.objects(ShelfBook.self).map(\.id))
        let key = try #require(lost.min())
        realm.acknowledgeDamage()
        #expect(realm.object(ofType: ShelfBook.self, forPrimaryKey: key) == nil)
        // An object with a lost one's key: the lost page would have to be read.
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.create(ShelfBook.self, value: ["id": key], update: .modified) }
        }
        let left = realm.objects(ShelfBook.self).count
        #expect(left == Self.books - lost.count && lost.count == lostBooks)
    }

    @Test("a call that can throw throws for a lost value, and another gives the default with a report")
    func throwingCalls() throws {
        let shelf = try DamagedShelf()
        let place = try #require(
            try shelf.damagePage("scan") {
                if case .value(_, "scan") = $0.loss { return true }
                return false
            })
        guard case .value(let key, _) = place.loss else { return }
        let heard = Locked(0)
        let realm = try Realm(configuration: shelf.configuration { _ in heard.with { $0 += 1 } })
        let book = try #require(realm.objects(ShelfBook.self).first { $0.id == Int(key) })
        for thing in [book, book.freeze()] {
            #expect(throws: Realm.Error.self) { _ = try thing.read(\.scan) }
            #expect(try thing.read(\.words) == thing.words)
        }
        let before = heard.current
        #expect(book.scan == nil, "a call that cannot throw gives the default")
        #expect(heard.current == before + 1, "and reports it each time")
        #expect(realm.objects(ShelfBook.self).count == 120, "the object is there")
    }

    @Test("verification at the open refuses a damaged file, or reports its damage from the background")
    func verifiedAtTheOpen() throws {
        let (shelf, place, _) = try shelfWithLostBooks()
        var configuration = shelf.configuration { _ in }
        configuration.verification = .atOpen
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        // Larger than the limit: opened, verified in the background, and reported.
        let heard = Locked<[Int?]>([])
        configuration.verificationLimit = 0
        configuration.report = { if case .damage(let damage) = $0 { heard.with { $0.append(damage.page) } } }
        let realm = try Realm(configuration: configuration)
        for _ in 0..<400 where heard.current.isEmpty { usleep(10_000) }
        #expect(heard.current == [place.page])
        #expect(throws: Realm.Error.self) { try realm.write {} }
    }

    @Test("a policy that repairs acts at the open", arguments: [false, true])
    func repairingPolicy(isMetEarlier: Bool) throws {
        let (shelf, _, lostBooks) = try shelfWithLostBooks()
        if isMetEarlier {
            let realm = try Realm(configuration: shelf.configuration { _ in })
            Self.readAll(realm)
        }
        var configuration = shelf.configuration(Self.noDamage)
        configuration.onDamage = .salvage
        if isMetEarlier { configuration.verificationLimit = 0 }
        let reports = Locked(0)
        configuration.recoveryHandler = { _ in reports.with { $0 += 1 } }
        let realm = try Realm(configuration: configuration)
        #expect(reports.current == 1)
        #expect(realm.objects(ShelfBook.self).count >= Self.books - lostBooks)
        try realm.write { realm.add(ShelfNote(value: ["id": -1])) }
        #expect(realm.damage.isEmpty)
        try? FileManager.default.removeItem(atPath: shelf.file.url.path + ".damaged-1")
    }

    @Test("walks of the standard library end when they meet damage")
    func walksOfTheLibrary() throws {
        func read(_ book: ShelfBook) -> Int {
            book.id & 1 + book.title.count + book.words + Int(book.score) + (book.scan?.count ?? 0) + book.pages.count
        }
        let walks: [(Results<ShelfBook>) -> Int] = [
            { $0.enumerated().map { read($0.element) }.count }, { $0.enumerated().filter { read($1) >= 0 }.count },
            { Array($0).map(read).count }, { $0.reduce(into: 0) { $0 += min(1, 1 + read($1)) } },
            { $0.sorted { read($0) < read($1) }.count }, { Dictionary(grouping: $0, by: read).values.joined().count },
        ]
        let (shelf, _, lostBooks) = try shelfWithLostBooks()
        for walk in walks {
            try? FileManager.default.removeItem(atPath: shelf.file.url.path + ".damage")
            let realm = try Realm(configuration: shelf.configuration { _ in })
            #expect(walk(realm.objects(ShelfBook.self)) <= Self.books)
            #expect(walk(realm.objects(ShelfBook.self)) == Self.books - lostBooks)
        }
    }

    @Test("an open file is verified, with its progress, and during a write")
    func verifiedWhileOpen() throws {
        let shelf = try DamagedShelf(books: 40)
        try shelf.damage { _ in }
        let realm = try Realm(configuration: shelf.configuration(Self.noDamage))
        var shares: [Double] = []
        #expect(try realm.verify { shares.append($0) }.isEmpty)
        #expect(shares.last == 1 && shares == shares.sorted())
        realm.beginWrite()
        realm.add(ShelfNote(value: ["id": -1]))
        #expect(try realm.verify().isEmpty)
        try realm.commitWrite()
    }
}
