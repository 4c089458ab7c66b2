import Harness
import Strata

/// A failure in a script: an observation that differs from the model.
struct CardFinding: Error {
    let text: String

    init(_ text: String) { self.text = text }

    static func expect<Value: Equatable>(_ what: String, _ got: Value, _ expected: Value) throws {
        if got != expected { throw CardFinding("\(what): expected \(expected), got \(got)") }
    }
}

/// The open database of a script, for one of the two classes, with the references and observers that the script holds.
protocol CardPlace: AnyObject {
    /// The contents of the file and of the Realm, according to the model.
    var state: CardState { get set }
    func perform(_ kind: CardOperation.Kind, _ numbers: [Int]) throws -> Bool
    var tally: CardTally { get }
    /// Compares everything that can be read.
    func compare() throws
    func stop() throws
}

/// The cards in the file, in the Realm's version, and in its open write.
struct CardState {
    var stored = CardModel()
    var seen = CardModel()
    var working: CardModel?

    /// The expected results of reads.
    var visible: CardModel { working ?? seen }
}

/// Counts of the checks.
struct CardTally: Sendable {
    var changes = 0
    var readsOfDeleted = 0
    var changeSets = 0
    var readsOfFrozen = 0

    mutating func add(_ other: CardTally) {
        changes += other.changes
        readsOfDeleted += other.readsOfDeleted
        changeSets += other.changeSets
        readsOfFrozen += other.readsOfFrozen
    }
}

final class CardSession<C: ShownCard>: CardPlace {
    private let file: CardFile
    private let realm: Realm
    var state: CardState
    private(set) var tally = CardTally()
    private var held: [Int: HeldCard<C>] = [:]
    private var observers: [Int: CardObserver] = [:]
    private let results: [(shelf: CardShelf, rows: Strata.Results<C>)]

    init(_ file: CardFile, _ model: CardModel) throws {
        self.file = file
        realm = try Realm(configuration: file.configuration(C.self))
        state = CardState(stored: model, seen: model)
        let realm = realm
        results = CardShelf.results.map { ($0, Self.rows(of: $0, realm)) }
    }

    private static func rows(of shelf: CardShelf, _ realm: Realm) -> Strata.Results<C> {
        let all = realm.objects(C.self)
        switch shelf {
        case .linking: return all.filter("link != nil").sorted(byKeyPath: "id")
        case .ranked: return all.sorted(by: [SortDescriptor(keyPath: "rank"), SortDescriptor(keyPath: "id")])
        default: return all.sorted(byKeyPath: "id")
        }
    }

    // MARK: Operations

    /// - Returns: whether the operation had an effect.
    func perform(_ kind: CardOperation.Kind, _ numbers: [Int]) throws -> Bool {
        switch kind {
        case .begin:
            if state.working != nil { return false }
            try begin()
        case .commit:
            if state.working == nil { return false }
            try commit()
        case .cancel:
            guard let working = state.working else { return false }
            realm.cancelWrite()
            state.working = nil
            (state.seen, state.stored) = (state.seen.cancelled(working), state.stored.cancelled(working))
            try told(from: state.seen)
        case .elsewhere, .elsewhereDelete, .handOver, .refresh, .invalidate: return try moveOn(kind, numbers)
        case .hold, .freeze, .keepList: return hold(kind, slot: numbers[0], id: numbers[1])
        case .watchCard, .watchList, .watchResults: return try watch(kind, slot: numbers[0], numbers[1])
        case .unwatch:
            guard let observer = observers.removeValue(forKey: numbers[0]) else { return false }
            observer.stop()
        case .reopen, .migrate: return false
        default: return try change(kind, numbers)
        }
        return true
    }

    private func change(_ kind: CardOperation.Kind, _ numbers: [Int]) throws -> Bool {
        let model = state.working ?? state.stored
        guard let change = model.change(kind, numbers) else { return false }
        let isOwn = state.working == nil
        if isOwn { try begin() }
        try C.apply(change, realm)
        state.working?.apply(change)
        if isOwn { try commit() }
        tally.changes += 1
        return true
    }

    /// A write begins with the newest version.
    private func begin() throws {
        realm.beginWrite()
        let before = state.seen
        state.seen = state.stored
        state.working = state.stored
        try told(from: before)
    }

    private func commit() throws {
        try realm.commitWrite()
        let before = state.seen
        state.working?.endWrite()
        if let working = state.working { (state.seen, state.stored) = (working, working) }
        state.working = nil
        try told(from: before)
    }

    /// Changes by other threads, and refreshes that make them visible here. Not possible inside a write.
    private func moveOn(_ kind: CardOperation.Kind, _ numbers: [Int]) throws -> Bool {
        if state.working != nil { return false }
        switch kind {
        case .elsewhere, .elsewhereDelete:
            let asked: CardOperation.Kind =
                kind == .elsewhereDelete ? .delete : state.stored.cards[numbers[0]] == nil ? .create : .rename
            guard let change = state.stored.change(asked, numbers) else { return false }
            let file = file
            try OtherThread.run {
                let realm = try Realm(configuration: file.configuration(C.self))
                try realm.write { try C.apply(change, realm) }
            }
            state.stored.apply(change)
            state.stored.endWrite()
            tally.changes += 1
            try told(from: state.seen)
        case .handOver: return try handOver(numbers[0])
        case .invalidate:
            realm.invalidate()
            for (slot, object) in held { try object.expectInvalidated(slot) }
            try refresh()
        default: try refresh()
        }
        return true
    }

    private func refresh() throws {
        realm.refresh()
        let before = state.seen
        state.seen = state.stored
        try told(from: before)
    }

    private func handOver(_ id: Int) throws -> Bool {
        guard let card = state.seen.cards[id], let object = C.find(id, in: realm) else { return false }
        let reference = ThreadSafeReference(to: object)
        let file = file
        let lines = try OtherThread.run {
            let realm = try Realm(configuration: file.configuration(C.self))
            return [realm.resolve(reference)?.line ?? "none", realm.resolve(reference)?.line ?? "none"]
        }
        let expected = state.stored.card(id, born: card.birth)?.line(id) ?? "none"
        try CardFinding.expect("card \(id) to another thread", lines[0], expected)
        try CardFinding.expect("card \(id) by a reference that was resolved", lines[1], "none")
        return true
    }

    // MARK: Holding and observing

    private func hold(_ kind: CardOperation.Kind, slot: Int, id: Int) -> Bool {
        guard let card = state.visible.cards[id], let object = C.find(id, in: realm) else { return false }
        switch kind {
        case .hold: held[slot] = .live(object, id, card.birth, hash: object.hashValue)
        case .keepList: held[slot] = .list(object.list, id, card.birth)
        default:
            if state.working != nil { return false }
            held[slot] = .frozen(object.freeze(), card.line(id))
        }
        return true
    }

    private func watch(_ kind: CardOperation.Kind, slot: Int, _ number: Int) throws -> Bool {
        if state.working != nil { return false }
        let observer: CardObserver
        let shelf: CardShelf
        if kind == .watchResults {
            shelf = CardShelf.results[number % CardShelf.results.count]
            observer = CardObserver(results[number % results.count].rows, .shelf(shelf))
        } else {
            guard let card = state.seen.cards[number], let object = C.find(number, in: realm) else { return false }
            shelf = .list(owner: number, birth: card.birth)
            observer =
                kind == .watchCard
                ? CardObserver(card: object, .card(id: number, birth: card.birth))
                : CardObserver(object.list, .shelf(shelf))
        }
        observers.removeValue(forKey: slot)?.stop()
        observers[slot] = observer
        if kind != .watchCard {
            try CardFinding.expect(
                "the first call of \(observer.watch)", observer.initial, [state.seen.rows(shelf).map(\.line)])
        }
        return true
    }

    /// Compares every observer's notifications with the Realm's change from the earlier to the present state.
    private func told(from before: CardModel) throws {
        let now = state.seen
        for (_, observer) in observers.sorted(by: { $0.key < $1.key }) {
            let events = observer.takeEvents()
            tally.changeSets += events.count
            if let objection = observer.watch.objection(to: events, from: before, to: now, titleName: C.titleName) {
                throw CardFinding(objection)
            }
        }
    }

    // MARK: Reading

    func compare() throws {
        let model = state.visible
        try told(from: state.seen)
        for (shelf, rows) in results {
            try CardFinding.expect("\(shelf)", rows.map(\.line), model.rows(shelf).map(\.line))
            try CardFinding.expect("the count of \(shelf)", rows.count, model.rows(shelf).count)
        }
        for (slot, object) in held.sorted(by: { $0.key < $1.key }) {
            try object.compare(slot, model, reports: file.reports, tally: &tally)
        }
    }

    /// Commits an open write, and releases everything.
    func stop() throws {
        if state.working != nil { try commit() }
        if !state.seen.isSame(as: state.stored) { try refresh() }
        for observer in observers.values { observer.stop() }
        observers = [:]
        held = [:]
    }
}

extension CardModel {
    /// The change of an operation; nil where it has no target.
    func change(_ kind: CardOperation.Kind, _ numbers: [Int]) -> CardChange? {
        guard kind != .empty else { return cards.isEmpty ? nil : .empty }
        let id = numbers[0]
        if kind == .create { return cards[id] == nil ? .create(id: id, number: numbers[1]) : nil }
        guard let card = cards[id] else { return nil }
        switch kind {
        case .rename:
            return card.title == Self.title(numbers[1]) ? nil : .title(id: id, number: numbers[1])
        case .rank: return card.rank == Self.rank(numbers[1]) ? nil : .rank(id: id, number: numbers[1])
        case .unlink: return card.link == nil ? nil : .link(id: id, to: nil)
        case .link: return cards[numbers[1]] == nil || card.link == numbers[1] ? nil : .link(id: id, to: numbers[1])
        case .append: return cards[numbers[1]] == nil ? nil : .insert(id: id, other: numbers[1], at: card.list.count)
        case .insert:
            guard cards[numbers[1]] != nil else { return nil }
            return .insert(id: id, other: numbers[1], at: numbers[2] % (card.list.count + 1))
        case .remove: return card.list.isEmpty ? nil : .remove(id: id, at: numbers[1] % card.list.count)
        case .clear: return card.list.isEmpty ? nil : .clear(id: id)
        case .delete: return .delete(id: id)
        case .replace: return .replace(id: id, number: numbers[1])
        default: return nil
        }
    }
}
