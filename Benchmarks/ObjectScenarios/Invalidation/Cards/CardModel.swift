/// The effect of an operation of a script on the cards: derived once from the model, and applied to the model and to
/// the database. An operation without a target changes neither.
enum CardChange: Equatable, Sendable {
    case create(id: Int, number: Int)
    case title(id: Int, number: Int)
    case rank(id: Int, number: Int)
    /// nil: the link is removed.
    case link(id: Int, to: Int?)
    case insert(id: Int, other: Int, at: Int)
    case remove(id: Int, at: Int)
    case clear(id: Int)
    case delete(id: Int)
    /// The card is deleted, and a new one with the same key is created, in one transaction.
    case replace(id: Int, number: Int)
    case empty
}

/// The cards in plain Swift: the expected result of every operation.
struct CardModel: Equatable, Sendable {
    struct Card: Equatable, Sendable {
        /// Identity of a card. A card that is created with the key of a deleted one is another card. If both were
        /// created in one write they have the same identity, since an object's identity is its key and its creation
        /// version.
        let birth: Int
        var title: String
        var rank: Int
        var link: Int?
        var list: [Int] = []
        /// Only in the newer class.
        var note: String?

        /// All values of a card, in a line.
        func line(_ id: Int) -> String {
            Card.line(id, title: title, rank: rank, link: link, list: list, note: note)
        }

        static func line(_ id: Int, title: String, rank: Int, link: Int?, list: [Int], note: String?) -> String {
            let link = link.map { "\($0)" } ?? "none"
            return "card \(id) '\(title)', rank \(rank), link \(link), list \(list), note \(note ?? "none")"
        }
    }

    private(set) var cards: [Int: Card] = [:]
    private var births = 0
    /// The births of cards that the current write created, by id.
    private var newborn: [Int: Int] = [:]
    /// Whether the file has the newer class.
    private(set) var isNewer = false

    static let noteOfNew = "made here"
    static func title(_ number: Int) -> String { "title \(number)" }
    static func note(_ title: String) -> String { "from \(title)" }
    static func rank(_ number: Int) -> Int { number % 10 }

    var ids: [Int] { cards.keys.sorted() }

    func card(_ id: Int, born birth: Int) -> Card? {
        cards[id].flatMap { $0.birth == birth ? $0 : nil }
    }

    /// Equal except for the counter of births: a cancelled write uses some up.
    func isSame(as other: CardModel) -> Bool { cards == other.cards && isNewer == other.isNewer }

    /// This model after `write` was cancelled: the births that the write used up are never used again.
    func cancelled(_ write: CardModel) -> CardModel {
        var model = self
        model.births = write.births
        return model
    }

    /// To be called when a write was committed.
    mutating func endWrite() { newborn = [:] }

    mutating func apply(_ change: CardChange) {
        switch change {
        case .create(let id, let number): make(id, number)
        case .title(let id, let number): cards[id]?.title = Self.title(number)
        case .rank(let id, let number): cards[id]?.rank = Self.rank(number)
        case .link(let id, let other): cards[id]?.link = other
        case .insert(let id, let other, let place): cards[id]?.list.insert(other, at: place)
        case .remove(let id, let place): cards[id]?.list.remove(at: place)
        case .clear(let id): cards[id]?.list = []
        case .delete(let id): delete(id)
        case .replace(let id, let number):
            delete(id)
            make(id, number)
        case .empty: cards = [:]
        }
    }

    private mutating func make(_ id: Int, _ number: Int) {
        births += 1
        let birth = newborn[id] ?? births
        newborn[id] = birth
        cards[id] = Card(
            birth: birth, title: Self.title(number), rank: Self.rank(number), note: isNewer ? Self.noteOfNew : nil)
    }

    private mutating func delete(_ id: Int) {
        cards[id] = nil
        for other in cards.keys {
            if cards[other]?.link == id { cards[other]?.link = nil }
            cards[other]?.list.removeAll { $0 == id }
        }
    }

    /// Migrates every card to the other class.
    mutating func migrate() {
        isNewer.toggle()
        for (id, card) in cards { cards[id]?.note = isNewer ? Self.note(card.title) : nil }
    }

    // MARK: Collections

    /// A row of a collection: its identity, and its values.
    struct Row: Equatable, Sendable {
        var birth: Int
        var line: String
        /// Births of the cards that it links to: a card that reuses a key is another card.
        var linked: [Int]
        /// The cards at one to four links: without key paths a collection notifies of changes in them.
        var behind: Set<String> = []
    }

    private func row(_ id: Int) -> Row? {
        cards[id].map { Row(birth: $0.birth, line: $0.line(id), linked: births([$0.link] + $0.list)) }
    }

    private func behind(_ id: Int) -> Set<String> {
        var found: Set<String> = []
        var ends: Set<Int> = [id]
        for _ in 0..<4 {
            let next = ends.flatMap { end in cards[end].map { [$0.link].compactMap(\.self) + $0.list } ?? [] }
            ends = Set(next)
            for row in ends.compactMap({ self.row($0) }) { found.insert("\(row.birth) \(row.line) \(row.linked)") }
        }
        return found
    }

    /// The births of cards; 0 for none.
    func births(_ ids: [Int?]) -> [Int] { ids.map { id in id.flatMap { cards[$0]?.birth } ?? 0 } }

    func rows(_ shelf: CardShelf) -> [Row] {
        let ids: [Int]
        switch shelf {
        case .all: ids = self.ids
        case .linking: ids = self.ids.filter { cards[$0]?.link != nil }
        case .ranked: ids = self.ids.sorted { (cards[$0]?.rank ?? 0, $0) < (cards[$1]?.rank ?? 0, $1) }
        case .list(let owner, let birth): ids = card(owner, born: birth)?.list ?? []
        }
        return ids.compactMap { id in
            guard var row = row(id) else { return nil }
            row.behind = behind(id)
            return row
        }
    }
}

/// A collection that a script observes and reads.
enum CardShelf: Equatable, Sendable, CustomStringConvertible {
    /// By id.
    case all
    /// Those that link to another one, by id.
    case linking
    /// By rank, then by id.
    case ranked
    case list(owner: Int, birth: Int)

    static let results: [CardShelf] = [.all, .linking, .ranked]

    /// Whether the order of its cards is fixed: then only one change set is right.
    var keepsOrder: Bool { self == .all || self == .linking }

    var description: String {
        switch self {
        case .all: "the results of all cards"
        case .linking: "the results of cards that link"
        case .ranked: "the results by rank"
        case .list(let owner, _): "the list of card \(owner)"
        }
    }
}
