import Strata

/// A reference that a program holds while cards are created and deleted.
enum HeldCard<C: ShownCard> {
    case live(C, _ id: Int, _ birth: Int, hash: Int)
    case list(List<C>, _ owner: Int, _ birth: Int)
    /// With the line of the card when it was frozen.
    case frozen(C, String)

    func expectInvalidated(_ slot: Int) throws {
        switch self {
        case .live(let card, let id, _, _):
            let name = "isInvalidated of object \(slot), card \(id), after the Realm was invalidated"
            try CardFinding.expect(name, card.isInvalidated, true)
        case .list, .frozen: break
        }
    }

    func compare(_ slot: Int, _ model: CardModel, reports: CardReports, tally: inout CardTally) throws {
        switch self {
        case .live(let card, let id, let birth, let hash):
            let name = "object \(slot), held of card \(id)"
            try CardFinding.expect("\(name), hash", card.hashValue, hash)
            if let expected = model.card(id, born: birth) {
                let before = reports.count
                try CardFinding.expect("\(name), isInvalidated", card.isInvalidated, false)
                try CardFinding.expect(name, card.line, expected.line(id))
                try CardFinding.expect("\(name), reports", reports.count - before, 0)
            } else {
                try Self.compareDeleted(card, "object \(slot), held of deleted card \(id)", reports)
                tally.readsOfDeleted += 1
            }
        case .list(let list, let id, let birth):
            let name = "object \(slot), the held list of card \(id)"
            let expected = model.card(id, born: birth)
            try CardFinding.expect("\(name), isInvalidated", list.isInvalidated, expected == nil)
            try CardFinding.expect("\(name), count", list.count, expected?.list.count ?? 0)
            try CardFinding.expect(name, list.map(\.id), expected?.list ?? [])
            if expected == nil { tally.readsOfDeleted += 1 }
        case .frozen(let card, let line):
            try CardFinding.expect("object \(slot), frozen, isInvalidated", card.isInvalidated, false)
            try CardFinding.expect("object \(slot), frozen", card.line, line)
            tally.readsOfFrozen += 1
        }
    }

    /// Reads must return declared defaults, each with a report; identity and `isInvalidated` work without one.
    private static func compareDeleted(_ card: C, _ name: String, _ reports: CardReports) throws {
        let before = reports.count
        try CardFinding.expect("\(name), isInvalidated", card.isInvalidated, true)
        try CardFinding.expect("\(name), reports of isInvalidated", reports.count - before, 0)
        try CardFinding.expect("\(name), title", card.shownTitle, C.titleOfDeleted)
        try CardFinding.expect("\(name), rank", card.shownRank, C.rankOfDeleted)
        try CardFinding.expect("\(name), link", card.link?.id, nil)
        try CardFinding.expect("\(name), reports", reports.count - before, 3)
        do {
            let title = try card.checkedTitle()
            throw CardFinding("\(name), a checked read: expected an error, got \(title)")
        } catch Realm.Error.objectDeleted {}
    }
}
