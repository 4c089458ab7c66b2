import Foundation
import Strata

/// Opens the file of the program.
enum Shelf {
    static func configuration(_ file: URL) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: file)
        configuration.objectTypes = [Book.self, Cover.self, Author.self, Note.self]
        configuration.schemaVersion = 2
        configuration.migrationBlock = { migration, oldVersion in
            if oldVersion < 2 {
                migration.renameProperty(onType: "Book", from: "name", to: "title")
                migration.fillNulls(onType: "Book", of: "pages", with: 0)
            }
        }
        configuration.onDamage = .salvage
        configuration.recoveryHandler = { report in
            print("recovered: \(report.reason); the damaged file is \(report.keptFileURL.lastPathComponent)")
        }
        configuration.report = { report in print("report: \(report)") }
        configuration.compaction = .online(freeShare: 0.25)
        return configuration
    }

    /// The same file, encrypted with 64 bytes that the program keeps elsewhere.
    static func encrypted(_ file: URL, key: Data) -> Realm.Configuration {
        var configuration = configuration(file)
        configuration.encryptionKey = key
        return configuration
    }
}

/// The classes of version 1, under the names that they have in its files.
enum Version1 {
    final class Book: Object {
        @Persisted(primaryKey: true) var isbn: String
        @Persisted var name = ""
        @Persisted var pages: Int?
        override class func className() -> String { "Book" }
    }
}
