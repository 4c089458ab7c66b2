import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A card of a script, of one of the two classes between which scripts migrate.
protocol ShownCard: Object {
    static func make(_ id: Int) -> Self
    /// Names of the properties behind `shownTitle` and `shownRank`.
    static var titleName: String { get }

    var id: Int { get }
    var shownTitle: String { get set }
    var shownRank: Int { get set }
    var link: Self? { get set }
    var list: List<Self> { get }
    var shownNote: String? { get }
    func checkedTitle() throws -> String
}

extension ShownCard {
    /// A read of a deleted card returns the declared defaults of its class.
    static var titleOfDeleted: String { "untitled" }
    static var rankOfDeleted: Int { -1 }

    var line: String {
        CardModel.Card.line(
            id, title: shownTitle, rank: shownRank, link: link?.id, list: list.map(\.id), note: shownNote)
    }

    /// Applies to the database what `CardModel.apply` applies to the model; inside a write.
    static func apply(_ change: CardChange, _ realm: Realm) throws {
        switch change {
        case .create(let id, let number): add(id, number, realm)
        case .title(let id, let number): try found(id, realm).shownTitle = CardModel.title(number)
        case .rank(let id, let number): try found(id, realm).shownRank = CardModel.rank(number)
        case .link(let id, let other): try found(id, realm).link = try other.map { try found($0, realm) }
        case .insert(let id, let other, let place):
            let list = try found(id, realm).list
            let card = try found(other, realm)
            if place == list.count { list.append(card) } else { list.insert(card, at: place) }
        case .remove(let id, let place): try found(id, realm).list.remove(at: place)
        case .clear(let id): try found(id, realm).list.removeAll()
        case .delete(let id): realm.delete(try found(id, realm))
        case .replace(let id, let number):
            realm.delete(try found(id, realm))
            add(id, number, realm)
        case .empty: realm.deleteAll()
        }
    }

    private static func add(_ id: Int, _ number: Int, _ realm: Realm) {
        let card = make(id)
        card.shownTitle = CardModel.title(number)
        card.shownRank = CardModel.rank(number)
        realm.add(card)
    }

    static func find(_ id: Int, in realm: Realm) -> Self? { realm.object(ofType: Self.self, forPrimaryKey: id) }

    private static func found(_ id: Int, _ realm: Realm) throws -> Self {
        guard let card = find(id, in: realm) else { throw MissingCard(id: id) }
        return card
    }
}

/// A card that must exist does not.
struct MissingCard: Error, CustomStringConvertible {
    let id: Int
    var description: String { "card \(id) is not in the database" }
}

enum OlderCards {
    final class Card: Object, ShownCard {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var title = "untitled"
        @Persisted var rank = -1
        @Persisted var link: Card?
        @Persisted var list: List<Card>
        override class func className() -> String { "HistoryCard" }

        static let titleName = "title"

        static func make(_ id: Int) -> Card {
            let card = Card()
            card.id = id
            return card
        }

        var shownTitle: String {
            get { title }
            set { title = newValue }
        }
        var shownRank: Int {
            get { rank }
            set { rank = newValue }
        }
        var shownNote: String? { nil }
        func checkedTitle() throws -> String { try read(\.title) }
    }
}

enum NewerCards {
    /// `title` is renamed, `rank` is a text, and there is a note.
    final class Card: Object, ShownCard {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = "untitled"
        @Persisted var rank = "-1"
        @Persisted var link: Card?
        @Persisted var list: List<Card>
        @Persisted var note = ""
        override class func className() -> String { "HistoryCard" }

        static let titleName = "name"

        static func make(_ id: Int) -> Card {
            let card = Card()
            card.id = id
            card.note = CardModel.noteOfNew
            return card
        }

        var shownTitle: String {
            get { name }
            set { name = newValue }
        }
        var shownRank: Int {
            get { Int(rank) ?? .min }
            set { rank = "\(newValue)" }
        }
        var shownNote: String? { note }
        func checkedTitle() throws -> String { try read(\.name) }
    }
}

/// The file of a script, and its configurations.
struct CardFile: Sendable {
    var path: String
    var durability: DurabilityClass
    var version: UInt64 = 0
    let reports: CardReports

    func configuration<C: ShownCard>(_ type: C.Type) -> Realm.Configuration {
        let reports = reports
        return Realm.Configuration(
            fileURL: URL(fileURLWithPath: path), schemaVersion: version, migrationBlock: Self.migrate,
            objectTypes: [type], durability: durability.ofRealm, invalidAccessHandler: { _ in reports.add() })
    }

    /// From either class to the other: odd versions have the newer one.
    private static let migrate: MigrationBlock = { migration, oldVersion in
        let name = "HistoryCard"
        if oldVersion % 2 == 0 {
            migration.renameProperty(onType: name, from: "title", to: "name")
            migration.convertProperty(onType: name, "rank") { ($0 as? Int).map { "\($0)" } }
            migration.enumerateObjects(ofType: name) { old, new in
                new?["note"] = CardModel.note(old?["title"] as? String ?? "")
            }
        } else {
            migration.renameProperty(onType: name, from: "name", to: "title")
            migration.convertProperty(onType: name, "rank") { ($0 as? String).flatMap { Int($0) } }
        }
    }
}
