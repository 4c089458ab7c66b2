import Foundation
import Seeds
import Strata
import Testing

/// Random operations on objects, links, collections and embedded objects, in the database and in plain Swift.
@Suite struct ObjectHistoryTests {
    @Test("a random history of objects equals its model, and is reproducible")
    func randomHistory() throws {
        let given = ProcessInfo.processInfo.environment["OBJECT_HISTORY_SEED"].flatMap { UInt64($0) }
        let seeds = given.map { [$0] } ?? [1, 2, 3].map { $0 &+ UInt64.random(in: 0..<1_000_000) &* 10 }
        for seed in seeds {
            let repeating = "OBJECT_HISTORY_SEED=\(seed) swift test --filter ObjectHistoryTests"
            var first = ObjectHistory(seed: seed)
            let one = try first.run(repeating)
            var second = ObjectHistory(seed: seed)
            let two = try second.run(repeating)
            #expect(one == two, "\(repeating)")
        }
    }
}

private struct ObjectHistory {
    private struct Cancelled: Error {}

    private var generator: RandomStream
    private var model = HistoryModel()
    private var held: [Int: HistoryItem] = [:]
    private var nextID = 0
    /// A delete rule forbids what the running write does.
    private var isDenied = false

    init(seed: UInt64) { generator = RandomStream(Seed(seed)) }

    /// - Returns: the final contents of the database.
    mutating func run(_ repeating: String) throws -> String {
        let realm = try makeRealm([HistoryItem.self])
        for step in 0..<120 {
            let (before, heldBefore, idBefore) = (model, held, nextID)
            isDenied = false
            do {
                try realm.write {
                    for _ in 0..<Int.random(in: 1...6, using: &generator) where !isDenied { change(realm) }
                    if !isDenied, Int.random(in: 0..<10, using: &generator) == 0 { throw Cancelled() }
                }
                try #require(!isDenied, "step \(step): \(repeating)")
            } catch let error where error is Cancelled || isDenied && Realm.Error.deleteDenied ~= error {
                (model, held, nextID) = (before, heldBefore, idBefore)
            }
            try #require(matches(realm), "step \(step): \(repeating)")
            if step % 20 == 19 { try realm.store.checkInvariants() }
        }
        let text =
            realm.dynamicObjects("HistoryItem").map(\.description).joined()
            + realm.dynamicObjects("HistoryPart").map(\.description).joined()
        // A collection's address is no content.
        return text.replacing(/<0x[0-9a-f]+>/, with: "")
    }

    // MARK: Changing

    private mutating func pick() -> Int? { model.ids.randomElement(using: &generator) }
    private mutating func number() -> Int { Int.random(in: 0..<12, using: &generator) }

    private mutating func change(_ realm: Realm) {
        guard model.items.count > 3, let id = pick(), let item = held[id], let other = pick(), let target = held[other]
        else { return create(realm) }
        switch Int.random(in: 0..<16, using: &generator) {
        case 0, 1: create(realm)
        case 2: delete(realm)
        case 3:
            item.link = number() < 3 ? nil : target
            model.items[id]?.link = item.link == nil ? nil : other
        case 4:
            item.owned = number() < 3 ? nil : target
            model.items[id]?.owned = item.owned == nil ? nil : other
        case 5:
            item.locked = number() < 8 ? nil : target
            model.items[id]?.locked = item.locked == nil ? nil : other
        case 6: changeList(item.shared) { model, body in body(&model.items[id, default: .init()].shared) }
        case 7, 8: changeList(item.list) { model, body in body(&model.items[id, default: .init()].list) }
        case 9: changeSet(item, id, target, other)
        case 10: changeMap(item, id, target, other)
        case 11: changePart(item, id, target, other)
        case 12: changeParts(item, id)
        case 13: changeValues(item, id)
        default: update(realm, id, other)
        }
    }

    private mutating func create(_ realm: Realm) {
        nextID += 1
        let item = HistoryItem(value: ["id": nextID])
        var new = HistoryModel.Item()
        if let other = pick(), let target = held[other] {
            item.list.append(objectsIn: [target, target])
            item.map["k"] = target
            new.list = [other, other]
            new.map["k"] = other
        }
        item.parts.append(HistoryPart(value: ["size": nextID]))
        new.parts = [HistoryModel.Part(size: nextID)]
        realm.add(item)
        model.items[nextID] = new
        held[nextID] = item
    }

    private mutating func delete(_ realm: Realm) {
        guard let id = pick() else { return }
        var ids = [id]
        if number() < 4, let other = pick(), other != id { ids.append(other) }
        isDenied = !model.delete(ids)
        realm.delete(ids.compactMap { held[$0] })
        if isDenied { return }
        held = held.filter { model.items[$0.key] != nil || !$0.value.isInvalidated }
    }

    private mutating func changeList(
        _ list: List<HistoryItem>, _ apply: (inout HistoryModel, (inout [Int]) -> Void) -> Void
    ) {
        guard let other = pick(), let target = held[other] else { return }
        let count = list.count
        let (a, b) = (number() % max(count, 1), number() % max(count, 1))
        switch number() {
        case 0..<3:
            list.append(target)
            apply(&model) { $0.append(other) }
        case 3, 4:
            list.insert(target, at: a)
            apply(&model) { $0.insert(other, at: a) }
        case 5 where count > 0:
            list.remove(at: a)
            apply(&model) { $0.remove(at: a) }
        case 6 where count > 0:
            list[a] = target
            apply(&model) { $0[a] = other }
        case 7 where count > 1:
            list.move(from: a, to: b)
            apply(&model) { $0.insert($0.remove(at: a), at: b) }
        case 8 where count > 1:
            list.swapAt(a, b)
            apply(&model) { $0.swapAt(a, b) }
        case 9:
            list.replaceSubrange(0..<a, with: [target, target])
            apply(&model) { $0.replaceSubrange(0..<a, with: [other, other]) }
        case 10 where count > 6:
            list.removeAll()
            apply(&model) { $0.removeAll() }
        default: break
        }
    }

    private mutating func changeSet(_ item: HistoryItem, _ id: Int, _ target: HistoryItem, _ other: Int) {
        if number() < 8 {
            item.set.insert(target)
            model.items[id]?.set.insert(other)
        } else {
            item.set.remove(target)
            model.items[id]?.set.remove(other)
        }
    }

    private mutating func changeMap(_ item: HistoryItem, _ id: Int, _ target: HistoryItem, _ other: Int) {
        let key = "key \(number())"
        switch number() {
        case 0..<7:
            item.map[key] = target
            model.items[id]?.map[key] = other
        case 7, 8:
            item.map[key] = .some(nil)
            model.items[id]?.map[key] = .some(nil)
        default:
            item.map.removeObject(for: key)
            model.items[id]?.map.removeValue(forKey: key)
        }
    }

    private mutating func changePart(_ item: HistoryItem, _ id: Int, _ target: HistoryItem, _ other: Int) {
        let size = number()
        switch number() {
        case 0..<4:
            item.part = nil
            model.items[id]?.part = nil
        case 4..<6:
            item.part?.size = size
            model.items[id]?.part?.size = size
        default:
            let part = HistoryPart(value: ["size": size, "inner": ["size": size + 1]])
            part.target = target
            item.part = part
            model.items[id]?.part = HistoryModel.Part(size: size, inner: size + 1, target: other)
        }
    }

    private mutating func changeParts(_ item: HistoryItem, _ id: Int) {
        let size = number()
        let count = item.parts.count
        switch number() {
        case 0..<5:
            item.parts.append(HistoryPart(value: ["size": size]))
            model.items[id]?.parts.append(HistoryModel.Part(size: size))
        case 5..<8 where count > 0:
            item.parts.remove(at: size % count)
            model.items[id]?.parts.remove(at: size % count)
        case 8 where count > 1, 9 where count > 1:
            item.parts.swapAt(0, size % count)
            model.items[id]?.parts.swapAt(0, size % count)
        default:
            item.parts.removeAll()
            model.items[id]?.parts.removeAll()
        }
    }

    private mutating func changeValues(_ item: HistoryItem, _ id: Int) {
        let value = number() << (number() * 4)
        let word = "word \(number())"
        item.numbers.append(value)
        model.items[id]?.numbers.append(value)
        if number() < 7 {
            item.words.insert(word)
            model.items[id]?.words.insert(word)
            item.counts[word] = value
            model.items[id]?.counts[word] = value
        } else {
            item.words.remove(word)
            model.items[id]?.words.remove(word)
            item.counts[word] = nil
            model.items[id]?.counts[word] = nil
        }
    }

    /// An upsert by values: named properties are replaced, the others stay.
    private mutating func update(_ realm: Realm, _ id: Int, _ other: Int) {
        let policy: Realm.UpdatePolicy = number() < 6 ? .modified : .all
        let size = number()
        realm.create(
            HistoryItem.self,
            value: ["id": id, "list": [["id": other], ["id": id]], "parts": [["size": size]], "words": ["u"]],
            update: policy)
        model.items[id]?.list = [other, id]
        model.items[id]?.parts = [HistoryModel.Part(size: size)]
        model.items[id]?.words = ["u"]
    }

    // MARK: Comparing

    private func matches(_ realm: Realm) -> Bool {
        let items = realm.objects(HistoryItem.self)
        guard items.map(\.id) == model.ids, held.keys.sorted() == model.ids else { return false }
        var partCount = 0
        for item in items {
            guard let expected = model.items[item.id], held[item.id] == item, value(of: item) == expected,
                backlinksMatch(item)
            else { return false }
            partCount += expected.parts.count + (expected.part == nil ? 0 : expected.part?.inner == nil ? 1 : 2)
        }
        return realm.dynamicObjects("HistoryPart").count == partCount
    }

    private func value(of item: HistoryItem) -> HistoryModel.Item {
        func part(_ part: HistoryPart) -> HistoryModel.Part {
            HistoryModel.Part(size: part.size, inner: part.inner?.size, target: part.target?.id)
        }
        return HistoryModel.Item(
            link: item.link?.id, owned: item.owned?.id, shared: item.shared.map(\.id), locked: item.locked?.id,
            list: item.list.map(\.id), set: Set(item.set.map(\.id)),
            map: Dictionary(uniqueKeysWithValues: item.map.map { ($0.key, $0.value?.id) }),
            part: item.part.map(part), parts: item.parts.map(part), numbers: Array(item.numbers),
            words: Set(item.words), counts: Dictionary(uniqueKeysWithValues: item.counts.map { ($0.key, $0.value) }))
    }

    private func backlinksMatch(_ item: HistoryItem) -> Bool {
        let id = item.id
        return item.linkedBy.map(\.id) == model.origins(of: id) { [$0.link].compactMap { $0 } }
            && item.listedBy.map(\.id) == model.origins(of: id) { $0.list }
            && item.inSetsOf.map(\.id) == model.origins(of: id) { Array($0.set) }
            && item.namedBy.map(\.id) == model.origins(of: id) { $0.map.values.compactMap { $0 } }
    }
}
