#if SQLite
    import CoreDataFiles

    /// A store of Core Data's shape: items with ten attributes, an author each, and tags. The items are of two entities
    /// in one table.
    struct ItemStore {
        let path: String
        /// The number of links without a target, and of pairs in the table of tags without one.
        let danglingCount: Int
        let hasHistory: Bool

        private static func attribute(_ name: String, _ type: CoreDataType) -> CoreDataAttribute {
            CoreDataAttribute(name, type, origin: .modelFile)
        }

        private static var model: CoreDataModel {
            var author = CoreDataEntity(name: "Author")
            author.attributes = [attribute("name", .string)]
            author.relationships = [
                CoreDataRelationship("items", to: "Item", inverse: "author", isToMany: true, origin: .modelFile)
            ]
            var item = CoreDataEntity(name: "Item")
            item.isAbstract = true
            item.attributes = [
                attribute("code", .uuid), attribute("cover", .data), attribute("isLent", .boolean),
                attribute("note", .string), attribute("pages", .integer32), attribute("price", .decimal),
                attribute("published", .date), attribute("rating", .double), attribute("title", .string),
                attribute("url", .uri),
            ]
            item.relationships = [
                CoreDataRelationship("author", to: "Author", inverse: "items", isToMany: false, origin: .modelFile),
                CoreDataRelationship("tags", to: "Tag", inverse: "items", isToMany: true, origin: .modelFile),
            ]
            var tag = CoreDataEntity(name: "Tag")
            tag.attributes = [attribute("name", .string)]
            tag.relationships = [
                CoreDataRelationship("items", to: "Item", inverse: "tags", isToMany: true, origin: .modelFile)
            ]
            return CoreDataModel(
                entities: [
                    author, item, CoreDataEntity(name: "Book", superName: "Item"),
                    CoreDataEntity(name: "Paper", superName: "Item"), tag,
                ], origin: .modelFile)
        }

        /// Keys of items whose author does not exist.
        var danglingKeys: [Int] { (0..<danglingCount).map { 3 + 4 * $0 } }

        /// The item as the import has to write it: a link without a target becomes null.
        func row(_ key: Int, version: Int = 1) -> ItemRow {
            var row = ItemRow(number: key, version: version)
            if key % 4 == 3, key < 3 + 4 * danglingCount { row.author = nil }
            return row
        }

        func make(_ count: Int) throws {
            let maker = try StoreMaker(path, Self.model, hasHistory: hasHistory)
            try maker.file.run("BEGIN")
            for number in 1...ItemRow.authors { try maker.insert("Author", [("ZNAME", .text("author \(number)"))]) }
            for number in 1...ItemRow.tags { try maker.insert("Tag", [("ZNAME", .text("tag \(number)"))]) }
            let pairs = try maker.file.statement("INSERT INTO Z_2TAGS (Z_2ITEMS, Z_5TAGS) VALUES (?1, ?2)")
            let dangling = Set(danglingKeys)
            for key in 1...count {
                var row = ItemRow(number: key)
                if dangling.contains(key) { row.author = Self.missing }
                try maker.insert(row.entity, Self.values(row))
                for tag in row.tags {
                    pairs.bind(0, Int64(key))
                    pairs.bind(1, Int64(tag))
                    try pairs.run()
                }
            }
            for number in 0..<danglingCount {
                pairs.bind(0, Int64(1 + number))
                pairs.bind(1, Int64(Self.missing))
                try pairs.run()
            }
            if hasHistory { try Self.addTransaction([], maker.file) }
            try maker.file.run("COMMIT")
            try maker.finish()
        }

        /// The key that links without a target have.
        static let missing = 1_000_000_000

        private static func values(_ row: ItemRow) -> [(String, StoreMaker.Value)] {
            [
                ("ZCODE", row.code.map { .data($0) } ?? .null), ("ZCOVER", row.cover.map { .data($0) } ?? .null),
                ("ZISLENT", row.isLent.map { .integer($0 ? 1 : 0) } ?? .null),
                ("ZNOTE", row.note.map { .text($0) } ?? .null),
                ("ZPAGES", row.pages.map { .integer(Int64($0)) } ?? .null),
                ("ZPRICE", row.price.map { .text($0) } ?? .null),
                ("ZPUBLISHED", row.published.map { .real($0) } ?? .null),
                ("ZRATING", row.rating.map { .real($0) } ?? .null), ("ZTITLE", row.title.map { .text($0) } ?? .null),
                ("ZURL", row.url.map { .text($0) } ?? .null),
                ("ZAUTHOR", row.author.map { .integer(Int64($0)) } ?? .null),
            ]
        }

        // MARK: Changes, as another program would make them

        /// Updates items to their second version, inserts items and deletes items.
        func change(updating updated: [Int], inserting inserted: [Int], deleting deleted: [Int]) throws {
            let file = try SQLiteFile(path, .write)
            defer { file.close() }
            try file.run("BEGIN IMMEDIATE")
            let numbers = ["Book": 3, "Paper": 4]
            let update = try file.statement(
                "UPDATE ZITEM SET Z_OPT = 2, ZCODE = ?2, ZNOTE = ?3, ZPAGES = ?4, ZTITLE = ?5 WHERE Z_PK = ?1")
            for key in updated {
                let row = ItemRow(number: key, version: 2)
                update.bind(0, Int64(key))
                if let code = row.code { update.bind(1, data: code) } else { update.bind(1, nil) }
                if let note = row.note { update.bind(2, text: note) } else { update.bind(2, nil) }
                update.bind(3, row.pages.map { Int64($0) })
                if let title = row.title { update.bind(4, text: title) } else { update.bind(4, nil) }
                try update.run()
            }
            for key in inserted {
                let row = ItemRow(number: key)
                let values = Self.values(row)
                let names = values.map(\.0).joined(separator: ", ")
                let places = values.map { _ in "?" }.joined(separator: ", ")
                let insert = try file.statement(
                    "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(names)) VALUES (?, ?, 1, \(places))")
                insert.bind(0, Int64(key))
                insert.bind(1, Int64(numbers[row.entity] ?? 0))
                for (place, value) in values.enumerated() { Self.bind(value.1, insert, place + 2) }
                try insert.run()
                for tag in row.tags { try file.run("INSERT INTO Z_2TAGS (Z_2ITEMS, Z_5TAGS) VALUES (\(key), \(tag))") }
            }
            for key in deleted {
                try file.run("DELETE FROM ZITEM WHERE Z_PK = \(key)")
                try file.run("DELETE FROM Z_2TAGS WHERE Z_2ITEMS = \(key)")
            }
            let last = inserted.max() ?? 0
            try file.run("UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, \(last)) WHERE Z_ENT IN (2, 3, 4)")
            if hasHistory {
                let changes =
                    updated.map { ($0, 1) } + inserted.map { ($0, 0) } + deleted.map { ($0, 2) }
                try Self.addTransaction(changes.map { ($0.0, $0.1, $0.0 % 2 == 0 ? 3 : 4) }, file)
            }
            try file.run("COMMIT")
        }

        private static func bind(_ value: StoreMaker.Value, _ statement: SQLiteStatement, _ place: Int) {
            switch value {
            case .null: statement.bind(place, nil)
            case .integer(let number): statement.bind(place, number)
            case .real(let number): statement.bind(place, double: number)
            case .text(let text): statement.bind(place, text: text)
            case .data(let bytes): statement.bind(place, data: bytes)
            }
        }

        private static func addTransaction(_ changes: [(key: Int, type: Int, entity: Int)], _ file: SQLiteFile) throws {
            let number = (try file.integer("SELECT max(Z_PK) FROM ATRANSACTION") ?? 0) + 1
            try file.run("INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES (\(number), 16002, 1, 0)")
            for change in changes {
                try file.run(
                    """
                    INSERT INTO ACHANGE (Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) \
                    VALUES (16001, 1, \(change.type), \(change.entity), \(change.key), \(number))
                    """)
            }
        }
    }
#endif
