import Strata

/// A notification in a comparable form.
enum CardEvent: Equatable, CustomStringConvertible {
    case places(PlaceChange)
    /// Names of changed properties, with the old and the new value where they have one.
    case properties([String])
    case deleted
    case failed(String)

    var description: String {
        switch self {
        case .places(let change): "\(change)"
        case .properties(let names): "changed \(names.joined(separator: ", "))"
        case .deleted: "deleted"
        case .failed(let text): "an error: \(text)"
        }
    }
}

/// A change set, with the rows of the collection at its notification.
struct PlaceChange: Equatable, CustomStringConvertible {
    var deletions: [Int]
    var insertions: [Int]
    var modifications: [Int]
    var lines: [String]

    var description: String {
        "deletions \(deletions), insertions \(insertions), modifications \(modifications), then \(lines.count) rows"
    }

    /// The only right change set of a collection with a fixed order; nil where nothing changed.
    init?(from before: [CardModel.Row], to after: [CardModel.Row]) {
        if before == after { return nil }
        let old = Dictionary(before.map { ($0.birth, $0) }) { first, _ in first }
        let kept = Dictionary(after.map { ($0.birth, $0) }) { first, _ in first }
        deletions = before.indices.filter { kept[before[$0].birth] == nil }
        insertions = after.indices.filter { old[after[$0].birth] == nil }
        modifications = before.indices.filter { place in
            kept[before[place].birth].map { $0 != before[place] } ?? false
        }
        lines = after.map(\.line)
    }

    init(_ lines: [String], deletions: [Int], insertions: [Int], modifications: [Int]) {
        (self.lines, self.deletions, self.insertions, self.modifications) = (
            lines, deletions, insertions, modifications
        )
    }
}

/// The subject of an observer, and the notification that it must get when one state of the cards follows another.
enum CardWatch: Equatable, CustomStringConvertible {
    case card(id: Int, birth: Int)
    case shelf(CardShelf)

    var description: String {
        switch self {
        case .card(let id, _): "the observer of card \(id)"
        case .shelf(let shelf): "the observer of \(shelf)"
        }
    }

    /// Compares the notifications with those that a change of the cards requires; nil where they are right.
    func objection(to events: [CardEvent], from before: CardModel, to after: CardModel, titleName: String) -> String? {
        let expected: CardEvent?
        switch self {
        case .card(let id, let birth):
            expected = Self.event(id, birth, before: before, after: after, titleName: titleName)
        case .shelf(let shelf):
            let (old, new) = (before.rows(shelf), after.rows(shelf))
            guard let change = PlaceChange(from: old, to: new, shelf) else { return complaint(nil, events) }
            if shelf.keepsOrder {
                expected = .places(change)
            } else {
                // Several change sets are right, and the one that came must be one of them.
                guard events.count == 1, case .places(let told) = events[0] else {
                    return complaint(.places(change), events)
                }
                return mirrored(told, old, new)
            }
        }
        return complaint(expected, events)
    }

    private func complaint(_ expected: CardEvent?, _ events: [CardEvent]) -> String? {
        if events == (expected.map { [$0] } ?? []) { return nil }
        // The same indices and counts, but not equal: then the rows differ.
        if case .places(let wanted)? = expected, events.count == 1, case .places(let told) = events[0],
            wanted.description == told.description
        {
            return "\(self), rows: expected \(wanted.lines), got \(told.lines)"
        }
        let got = events.isEmpty ? "nothing" : events.map(\.description).joined(separator: "; ")
        return "\(self): expected \(expected?.description ?? "nothing"), got \(got)"
    }

    private func mirrored(_ told: PlaceChange, _ old: [CardModel.Row], _ new: [CardModel.Row]) -> String? {
        let lines = new.map(\.line)
        if told.lines != lines { return "\(self), rows: expected \(lines), got \(told.lines)" }
        var mirror = ChangeSetMirror(rows: old)
        if let problem = mirror.apply(
            new, deletions: told.deletions, insertions: told.insertions, modifications: told.modifications)
        {
            return "\(self), change set: \(problem) (\(told))"
        }
        if mirror.rows == new { return nil }
        return "\(self), what the change set makes: expected \(lines), got \(mirror.rows.map(\.line)) (\(told))"
    }

    private static func event(
        _ id: Int, _ birth: Int, before: CardModel, after: CardModel, titleName: String
    ) -> CardEvent? {
        guard let old = before.card(id, born: birth) else { return nil }
        guard let new = after.card(id, born: birth) else { return .deleted }
        var names: [String] = []
        if old.title != new.title { names.append(named(titleName, old.title, new.title)) }
        if old.rank != new.rank { names.append(named("rank", "\(old.rank)", "\(new.rank)")) }
        if before.births([old.link]) != after.births([new.link]) { names.append("link") }
        if before.births(old.list) != after.births(new.list) { names.append("list") }
        return names.isEmpty ? nil : .properties(names.sorted())
    }

    static func named(_ name: String, _ old: String, _ new: String) -> String { "\(name) from '\(old)' to '\(new)'" }
}

extension PlaceChange {
    /// nil if no notification is due. Without a fixed order several change sets are right, so no indices are derived.
    fileprivate init?(from before: [CardModel.Row], to after: [CardModel.Row], _ shelf: CardShelf) {
        if shelf.keepsOrder {
            self.init(from: before, to: after)
        } else if before == after {
            return nil
        } else {
            self.init(after.map(\.line), deletions: [], insertions: [], modifications: [])
        }
    }
}

/// One observer of a Realm, and the notifications that ``takeEvents()`` has not returned yet.
final class CardObserver {
    let watch: CardWatch
    private var events: [CardEvent] = []
    private var token: NotificationToken?
    /// The rows of the first notifications of a collection's observer; empty for an object, whose observer gets none.
    private(set) var initial: [[String]] = []

    init<C: ShownCard>(card: C, _ watch: CardWatch) {
        self.watch = watch
        token = card.observe { [weak self] (change: ObjectChange<C>) in self?.note(change) }
    }

    init<Shown: RealmCollection>(_ collection: Shown, _ watch: CardWatch) where Shown.Element: ShownCard {
        self.watch = watch
        token = collection.observe { [weak self] change in
            switch change {
            case .initial(let now): self?.initial.append(now.map(\.line))
            case .update(let now, let deletions, let insertions, let modifications):
                self?.events.append(
                    .places(
                        PlaceChange(
                            now.map(\.line), deletions: deletions, insertions: insertions, modifications: modifications)
                    ))
            case .error(let error): self?.events.append(.failed("\(error)"))
            }
        }
    }

    private func note<C: ShownCard>(_ change: ObjectChange<C>) {
        switch change {
        case .change(_, let properties):
            let names = properties.map { property in
                guard property.name == C.titleName || property.name == "rank" else { return property.name }
                return CardWatch.named(
                    property.name, property.oldValue.map { "\($0)" } ?? "nil",
                    property.newValue.map { "\($0)" } ?? "nil")
            }
            events.append(.properties(names.sorted()))
        case .deleted: events.append(.deleted)
        case .error(let error): events.append(.failed("\(error)"))
        }
    }

    func takeEvents() -> [CardEvent] {
        defer { events = [] }
        return events
    }

    func stop() { token?.invalidate() }
}
