import Strata

/// The class of `ObjectHistoryTests`.
final class HistoryItem: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var link: HistoryItem?
    @Persisted(deleteRule: .cascade) var owned: HistoryItem?
    @Persisted(deleteRule: .cascadeIfLast) var shared: List<HistoryItem>
    @Persisted(deleteRule: .deny) var locked: HistoryItem?
    @Persisted var list: List<HistoryItem>
    @Persisted var set: MutableSet<HistoryItem>
    @Persisted var map: Map<String, HistoryItem?>
    @Persisted var part: HistoryPart?
    @Persisted var parts: List<HistoryPart>
    @Persisted var numbers: List<Int>
    @Persisted var words: MutableSet<String>
    @Persisted var counts: Map<String, Int>
    @Persisted(originProperty: "link") var linkedBy: LinkingObjects<HistoryItem>
    @Persisted(originProperty: "list") var listedBy: LinkingObjects<HistoryItem>
    @Persisted(originProperty: "set") var inSetsOf: LinkingObjects<HistoryItem>
    @Persisted(originProperty: "map") var namedBy: LinkingObjects<HistoryItem>
}

final class HistoryPart: EmbeddedObject {
    @Persisted var size = 0
    @Persisted var inner: HistoryPart?
    @Persisted var target: HistoryItem?
}

/// The expected state in plain Swift.
struct HistoryModel: Equatable {
    struct Part: Equatable {
        var size = 0
        var inner: Int?
        var target: Int?
    }

    struct Item: Equatable {
        var link: Int?
        var owned: Int?
        var shared: [Int] = []
        var locked: Int?
        var list: [Int] = []
        var set: Set<Int> = []
        var map: [String: Int?] = [:]
        var part: Part?
        var parts: [Part] = []
        var numbers: [Int] = []
        var words: Set<String> = []
        var counts: [String: Int] = [:]
    }

    var items: [Int: Item] = [:]

    var ids: [Int] { items.keys.sorted() }

    /// Deletes items, and the targets of their delete rules.
    /// - Returns: false, and nothing happened, when a rule forbids it.
    mutating func delete(_ ids: [Int]) -> Bool {
        let before = self
        var waiting = ids
        var orphans: [Int] = []
        while true {
            while let id = waiting.popLast() {
                guard let item = items[id] else { continue }
                if let owned = item.owned { waiting.append(owned) }
                orphans += item.shared
                if item.locked != nil {
                    self = before
                    return false
                }
                items[id] = nil
                for other in items.keys { items[other]?.forget(id) }
            }
            waiting = orphans.filter { items[$0] != nil && linkCount(to: $0) == 0 }
            orphans = []
            if waiting.isEmpty { return true }
        }
    }

    private func linkCount(to id: Int) -> Int { items.values.reduce(0) { $0 + $1.linkCount(to: id) } }

    /// The items that link to `id` by one property, once per link.
    func origins(of id: Int, _ links: (Item) -> [Int]) -> [Int] {
        ids.flatMap { origin in items[origin].map { links($0).filter { $0 == id }.map { _ in origin } } ?? [] }
    }
}

extension HistoryModel.Item {
    mutating func forget(_ id: Int) {
        if link == id { link = nil }
        if owned == id { owned = nil }
        if locked == id { locked = nil }
        shared.removeAll { $0 == id }
        list.removeAll { $0 == id }
        set.remove(id)
        for (key, value) in map where value == id { map[key] = .some(nil) }
        if part?.target == id { part?.target = nil }
        for place in parts.indices where parts[place].target == id { parts[place].target = nil }
    }

    func linkCount(to id: Int) -> Int {
        let single = [link, owned, locked, part?.target].count { $0 == id } + parts.count { $0.target == id }
        return single + shared.count { $0 == id } + list.count { $0 == id } + (set.contains(id) ? 1 : 0)
            + map.values.count { $0 == id }
    }
}
