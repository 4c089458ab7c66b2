import CoreDataFiles
import Files
import Harness
import StoreMigration
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The store that the application leaves: a table of SQLite, or, in a build without SQLite, another database of Strata.
///
/// The scenarios write and read it by SQL, without the adapter that they test.
struct OldStore {
    let path: String

    #if SQLite
        static let words = "a table of SQLite"
    #else
        static let words = "a database of Strata, for want of SQLite"
    #endif

    init(_ directory: String) {
        #if SQLite
            path = directory + "/old.sqlite"
        #else
            path = directory + "/old.strata"
        #endif
    }

    // MARK: The adapter

    func open() throws -> any PrimaryStore {
        #if SQLite
            try SQLiteTableStore(
                path, [SQLiteTable(Contact.model, table: "contact", keyColumn: "id", dateOrigin: 978_307_200)])
        #else
            try StrataStore(ContactFile(path).configuration, models: [Contact.model])
        #endif
    }

    // MARK: Beside it

    /// Creates the store with these rows.
    func make(_ rows: some Sequence<ContactRow>) throws {
        #if SQLite
            let file = try SQLiteFile(path, .create)
            defer { file.close() }
            try file.run("PRAGMA journal_mode = WAL")
            try file.run(
                """
                CREATE TABLE contact (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, rating REAL NOT NULL, \
                changed REAL NOT NULL, note TEXT, photo BLOB, isActive INTEGER NOT NULL, friend INTEGER)
                """)
            // A deletion searches for links to the row.
            try file.run("CREATE INDEX contact_friend ON contact (friend)")
            try write(rows, file)
        #else
            try ContactFile(path).put(rows)
        #endif
    }

    /// Writes rows past the writer, which may have the store open.
    func put(_ rows: some Sequence<ContactRow>) throws {
        #if SQLite
            let file = try SQLiteFile(path, .write, busyMilliseconds: 5_000)
            defer { file.close() }
            try write(rows, file)
        #else
            try ContactFile(path).put(rows)
        #endif
    }

    func delete(_ ids: [Int]) throws {
        #if SQLite
            let file = try SQLiteFile(path, .write, busyMilliseconds: 5_000)
            defer { file.close() }
            let statement = try file.statement("DELETE FROM contact WHERE id = ?1")
            try file.run("BEGIN IMMEDIATE")
            for id in ids {
                statement.bind(0, Int64(id))
                try statement.run()
            }
            try file.run("COMMIT")
        #else
            try ContactFile(path).delete(ids)
        #endif
    }

    func contents() throws -> ContactBook {
        #if SQLite
            let file = try SQLiteFile(path, .write, busyMilliseconds: 5_000)
            defer { file.close() }
            var book = ContactBook()
            let rows = try file.statement(Self.selection)
            while try rows.step() {
                let row = Self.row(rows)
                book.rows[row.id] = row
            }
            return book
        #else
            return try ContactFile(path).contents()
        #endif
    }

    func rows(_ ids: [Int]) throws -> [ContactRow?] {
        #if SQLite
            let file = try SQLiteFile(path, .write, busyMilliseconds: 5_000)
            defer { file.close() }
            let statement = try file.statement(Self.selection + " WHERE id = ?1")
            return try ids.map { id in
                defer { statement.reset() }
                statement.bind(0, Int64(id))
                return try statement.step() ? Self.row(statement) : nil
            }
        #else
            return try ContactFile(path).rows(ids)
        #endif
    }

    var bytes: Int { get throws { try FileBytes.below(path) } }

    #if SQLite
        private static let selection =
            "SELECT id, name, age, rating, changed, note, photo, isActive, friend FROM contact"

        private func write(_ rows: some Sequence<ContactRow>, _ file: SQLiteFile) throws {
            try file.run("BEGIN IMMEDIATE")
            let statement = try file.statement(
                """
                INSERT INTO contact (id, name, age, rating, changed, note, photo, isActive, friend) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET name = excluded.name, \
                age = excluded.age, rating = excluded.rating, changed = excluded.changed, note = excluded.note, \
                photo = excluded.photo, isActive = excluded.isActive, friend = excluded.friend
                """)
            for row in rows {
                statement.bind(0, Int64(row.id))
                statement.bind(1, text: row.name)
                statement.bind(2, row.age.map { Int64($0) })
                statement.bind(3, double: row.rating)
                statement.bind(4, double: row.changed)
                if let note = row.note { statement.bind(5, text: note) } else { statement.bind(5, nil) }
                if let photo = row.photo { statement.bind(6, data: photo) } else { statement.bind(6, nil) }
                statement.bind(7, row.isActive ? 1 : 0)
                statement.bind(8, row.friend.map { Int64($0) })
                try statement.run()
            }
            try file.run("COMMIT")
        }

        private static func row(_ row: SQLiteStatement) -> ContactRow {
            ContactRow(
                id: Int(row.integer(0)), name: row.text(1), age: row.isNull(2) ? nil : Int(row.integer(2)),
                rating: row.double(3), changed: row.double(4), note: row.isNull(5) ? nil : row.text(5),
                photo: row.isNull(6) ? nil : row.data(6), isActive: row.integer(7) != 0,
                friend: row.isNull(8) ? nil : Int(row.integer(8)))
        }
    #endif
}

/// The size of a database with its other files.
enum FileBytes {
    /// Bytes of the file at that path, and of files whose names begin with its name: logs and journals.
    static func below(_ path: String) throws -> Int {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let (folder, name) = (parts.dropLast().joined(separator: "/"), String(parts.last ?? ""))
        return try FileTree.names(in: folder).filter { $0.hasPrefix(name) }
            .reduce(0) { $0 + (try FileTree.size(folder + "/" + $1)) }
    }
}
