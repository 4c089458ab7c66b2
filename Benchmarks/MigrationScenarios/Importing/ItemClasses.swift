import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The classes of the new file, as `strata coredata info --swift` would print them.

final class ImportedAuthor: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
    @Persisted var coreDataVersion: Int?
    @Persisted var name: String?

    override class func className() -> String { "Author" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class ImportedItem: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
    @Persisted var coreDataEntity: String
    @Persisted var coreDataVersion: Int?
    @Persisted var code: UUID?
    @Persisted var cover: Data?
    @Persisted var isLent: Bool?
    @Persisted var note: String?
    @Persisted var pages: Int?
    @Persisted var price: Decimal128?
    @Persisted var published: Date?
    @Persisted var rating: Double?
    @Persisted var title: String?
    @Persisted var url: String?
    @Persisted var author: ImportedAuthor?
    @Persisted var tags: List<ImportedTag>

    override class func className() -> String { "Item" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class ImportedTag: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var coreDataKey: Int
    @Persisted var coreDataVersion: Int?
    @Persisted var name: String?

    override class func className() -> String { "Tag" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// An item as it has to be in the new file. Every value is derived from its number and its version.
struct ItemRow: Equatable, Sendable {
    var key: Int
    var entity: String
    var version: Int?
    var code: [UInt8]?
    var cover: [UInt8]?
    var isLent: Bool?
    var note: String?
    var pages: Int?
    var price: String?
    var published: Double?
    var rating: Double?
    var title: String?
    var url: String?
    var author: Int?
    var tags: [Int] = []

    static let authors = 100
    static let tags = 20

    /// The values of each kind include null, 0 and "" where the kind has them.
    init(number key: Int, version: Int = 1) {
        self.key = key
        entity = key % 2 == 0 ? "Book" : "Paper"
        self.version = version
        code = key % 5 == 0 ? nil : (0..<16).map { UInt8(truncatingIfNeeded: key &* 31 &+ $0 &* version) }
        cover = key % 6 == 0 ? nil : key % 7 == 0 ? [] : [UInt8](repeating: UInt8(key % 251), count: 8 + key % 24)
        isLent = key % 4 == 0 ? nil : key % 3 == 0
        note = key % 8 == 0 ? nil : key % 9 == 0 ? "" : "note of \(key), version \(version)"
        pages = key % 10 == 0 ? nil : key % 11 == 0 ? 0 : key % 1_000 + version
        price = key % 12 == 0 ? nil : "\(key % 500).25"
        published = key % 13 == 0 ? nil : Double(key) * 3_600.5 - 1e8
        rating = key % 14 == 0 ? nil : key % 15 == 0 ? 0 : Double(key % 50) / 8
        title = key % 16 == 0 ? nil : key % 17 == 0 ? "" : "Title \(key)" + (version > 1 ? ", \(version)" : "")
        url = key % 18 == 0 ? nil : "https://example.org/\(key)"
        author = key % 19 == 0 ? nil : key % Self.authors + 1
        if key % 20 == 0 { tags = Set([key / 20 % Self.tags + 1, key / 40 % Self.tags + 1]).sorted() }
    }

    init(_ item: ImportedItem) {
        key = item.coreDataKey
        entity = item.coreDataEntity
        version = item.coreDataVersion
        code = item.code.map { withUnsafeBytes(of: $0.uuid) { [UInt8]($0) } }
        cover = item.cover.map { [UInt8]($0) }
        isLent = item.isLent
        note = item.note
        pages = item.pages
        price = item.price.map { "\($0)" }
        published = item.published?.timeIntervalSinceReferenceDate
        rating = item.rating
        title = item.title
        url = item.url
        author = item.author?.coreDataKey
        tags = item.tags.map(\.coreDataKey)
    }
}

/// The new file, read by objects and not by the import's code.
struct ImportedFile {
    let path: String

    private func realm() throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(
                fileURL: URL(fileURLWithPath: path),
                objectTypes: [ImportedAuthor.self, ImportedItem.self, ImportedTag.self]))
    }

    var counts: (authors: Int, items: Int, tags: Int) {
        get throws {
            let realm = try realm()
            return (
                realm.objects(ImportedAuthor.self).count, realm.objects(ImportedItem.self).count,
                realm.objects(ImportedTag.self).count
            )
        }
    }

    func items(_ keys: some Sequence<Int>) throws -> [ItemRow?] {
        let realm = try realm()
        return keys.map { realm.object(ofType: ImportedItem.self, forPrimaryKey: $0).map { ItemRow($0) } }
    }

    /// Changes one item and deletes another one, which a verification has to find.
    func spoil(changing changed: Int, deleting deleted: Int) throws {
        let realm = try realm()
        try realm.write {
            realm.object(ofType: ImportedItem.self, forPrimaryKey: changed)?.pages = -1
            if let item = realm.object(ofType: ImportedItem.self, forPrimaryKey: deleted) { realm.delete(item) }
        }
    }
}
