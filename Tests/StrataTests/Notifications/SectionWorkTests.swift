import Foundation
import Testing

@testable import Strata

/// Thirty commits of one row each under an observer of sections once took eight seconds with 100 000 rows: every
/// section key was computed again after each.
@Suite struct SectionWorkTests {
    private func sections(_ count: Int, _ asked: @escaping () -> Void) throws -> (
        Realm, SectionedResults<Int, Counter>
    ) {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<count { realm.add(Counter(id, "n", count: id % 50)) } }
        let sections = realm.objects(Counter.self).sectioned(
            by: {
                asked()
                return $0.count
            }, sortDescriptors: ["count", "id"])
        return (realm, sections)
    }

    @Test("keys are computed only for changed rows", arguments: [500, 5000])
    func keys(count: Int) throws {
        var asked = 0
        var seen: [Int] = []
        let (realm, sections) = try sections(count) { asked += 1 }
        let counters = realm.objects(Counter.self)
        let token = sections.observe { change in
            switch change {
            case .initial(let sections): seen.append(sections.count)
            case .update(let sections, _, _, _, _, _): seen.append(sections.count)
            }
        }
        #expect(asked == count && seen == [50])
        asked = 0
        for step in 0..<30 { try realm.write { counters[step * 3].name = "m\(step)" } }
        #expect(asked == 30 && seen.count == 31)
        try realm.write {
            counters[7].count = 99
            realm.delete(counters[9])
            realm.add(Counter(1_000_000, "new", count: 3))
        }
        #expect(asked == 32 && seen.last == 51)
        token.invalidate()
    }

    @Test("a key that depends on an unobserved property is correct with the next change")
    func unobservedProperty() throws {
        var frames: [[[Int]]] = []
        let (realm, sections) = try sections(10) {}
        let token = sections.observe(keyPaths: ["name"]) { change in
            if case .update(let sections, _, _, _, _, _) = change { frames.append(sections.map { $0.map(\.id) }) }
        }
        let counters = realm.objects(Counter.self)
        try realm.write { counters[3].score = 1 }
        try realm.write { counters[4].name = "x" }
        try realm.write { counters[5].count = 0 }
        try realm.write { counters[6].name = "x" }
        #expect(frames.last == sections.map { $0.map(\.id) } && sections[0].map(\.id) == [0, 5])
        token.invalidate()
    }

    @Test("keys of removed rows are not kept")
    func removedRowsAreNotKept() throws {
        let (realm, sections) = try sections(4) {}
        var count = 0
        let token = sections.observe { change in
            if case .update(let sections, _, _, _, _, _) = change { count = sections.count }
        }
        let counters = realm.objects(Counter.self)
        for step in 0..<300 { try realm.write { counters[step % 4].count = 1000 + step } }
        #expect(count == 4 && sections.allKeys == [1296, 1297, 1298, 1299])
        token.invalidate()
    }

    @Test("the steps of a commit do not grow with the rows if the order keeps sections together")
    func stepsOfACommit() throws {
        func steps(_ count: Int) throws -> UInt64 {
            let (realm, sections) = try sections(count) {}
            var seen = 0
            let token = sections.observe { change in
                guard case .update(let now, _, _, _, _, _) = change else { return }
                // A read of the sections must not compute them again either.
                seen += now.count + now[2].count + (now[2].last?.id ?? 0)
            }
            defer { token.invalidate() }
            let counters = realm.objects(Counter.self)
            let before = WorkSteps.taken
            for step in 0..<20 {
                try realm.write {
                    counters[step * 3].name = "m\(step)"
                    counters[step * 3 + 1].count = (step * 7) % 50
                    if step % 5 == 4 { realm.delete(counters[step * 2]) }
                }
            }
            #expect(seen > 0)
            return WorkSteps.taken - before
        }
        let (few, many) = (try steps(500), try steps(8000))
        #expect(many < 2 * few, "\(few) steps with 500 rows, \(many) with 8000")
    }

    @Test("observers get right changes, whether or not sections are runs of adjacent rows", arguments: UInt64(1)...4)
    func kinds(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let realm = try makeRealm([Counter.self])
        let counters = realm.objects(Counter.self)
        try realm.write { for id in 0..<200 { realm.add(Counter(id, "n\(id % 3)", count: id % 70)) } }
        let high = counters.where { $0.count < 90 }
        let kinds: [(SectionedResults<String, Counter>, keyPaths: [String]?)] = [
            (high.sectioned(by: { "\($0.count / 20)" }, sortDescriptors: ["count", "id"]), nil),
            (high.sectioned(by: \.name, sortDescriptors: ["name", "count"]), nil),
            (high.sectioned(by: \.name, sortDescriptors: ["name", "count"]), ["count"]),
            (high.sectioned(by: { "\($0.count)" }, sortDescriptors: ["count"]), nil),
            (high.sectioned(by: { "\($0.id / 10)" }, sortDescriptors: []), nil),
            (high.sectioned(by: \.name, sortDescriptors: ["id"]), nil),
            (counters.where { $0.count > 64 }.sectioned(by: \.name, sortDescriptors: ["count"]), nil),
            (counters.sectioned(by: { "\($0.count / 30)" }, sortDescriptors: ["count"]), []),
        ]
        var mirrors: [[String: [Int]]] = Array(repeating: [:], count: kinds.count)
        let tokens = kinds.enumerated().map { number, kind in
            var order: [(key: String, ids: [Int])] = []
            return kind.0.observe(keyPaths: kind.keyPaths) { change in
                switch change {
                case .initial(let now): order = now.map { ($0.key, $0.map(\.id)) }
                case .update(let now, let deletions, let insertions, _, let came, let went):
                    for place in deletions.reversed() { order[place.section].ids.remove(at: place.item) }
                    for section in went.reversed() { order.remove(at: section) }
                    for section in came { order.insert((now[section].key, []), at: section) }
                    for place in insertions { order[place.section].ids.insert(now[place].id, at: place.item) }
                    let shown = now.map { "\($0.key) \($0.map(\.id))" }
                    #expect(shown == order.map { "\($0.key) \($0.ids)" }, "kind \(number), seed \(seed)")
                }
                mirrors[number] = Dictionary(uniqueKeysWithValues: order.map { ($0.key, $0.ids) })
            }
        }
        for step in 0..<30 {
            try realm.write {
                for _ in 0..<(step % 10 == 7 ? 150 : 1 + dice.roll(5)) { change(realm, counters, &dice) }
            }
            // Observers with key paths get a change of another property only with a later notification.
            for (number, kind) in kinds.enumerated() where kind.keyPaths == nil {
                let wanted = Dictionary(uniqueKeysWithValues: kind.0.map { ($0.key, $0.map(\.id)) })
                #expect(mirrors[number] == wanted, "kind \(number), seed \(seed), step \(step)")
            }
        }
        for token in tokens { token.invalidate() }
    }

    private func change(_ realm: Realm, _ counters: Results<Counter>, _ dice: inout Dice) {
        let id = dice.roll(220)
        switch (dice.roll(5), realm.object(ofType: Counter.self, forPrimaryKey: id)) {
        case (0, let counter?): realm.delete(counter)
        case (1, let counter?): counter.name = "n\(dice.roll(4))"
        case (2, let counter?):
            // Deletes the object, and adds another one with its key.
            realm.delete(counter)
            realm.add(Counter(id, "n1", count: dice.roll(100)))
        case (_, let counter?): counter.count = dice.roll(100)
        case (_, nil): realm.add(Counter(id, "n\(dice.roll(3))", count: dice.roll(100)))
        }
    }
}
