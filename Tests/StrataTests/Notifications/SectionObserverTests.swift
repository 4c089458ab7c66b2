import Foundation
import Testing

@testable import Strata

@Suite struct SectionObserverTests {
    private typealias Change = SectionedResultsChange<SectionedResults<Int, Counter>>

    /// Rows by section, updated only by change sets.
    private final class Mirror {
        var sections: [[Int]] = []
        var modified: [[Int]] = []
        var updates = 0
        /// The observed part of each row.
        private var shown: [Int: String] = [:]
        private(set) var failures: [String] = []

        private func show(_ now: SectionedResults<Int, Counter>) -> [Int: String] {
            Dictionary(uniqueKeysWithValues: now.joined().map { ($0.id, "\($0.name) \($0.count)") })
        }

        /// Every changed element is listed, and a modified element keeps its place.
        private func check(
            _ now: SectionedResults<Int, Counter>, _ insertions: [IndexPath], _ modifications: [IndexPath]
        ) {
            for place in modifications {
                let old = sections[place.section][place.item]
                if now[place].id != old { failures.append("\(place): \(old) is \(now[place].id)") }
            }
            let listed = Set((insertions + modifications).map { now[$0].id })
            let (before, after) = (shown, show(now))
            for (id, text) in after where text != before[id] && !listed.contains(id) {
                failures.append("\(id) is not listed: \(before[id] ?? "nothing") -> \(text)")
            }
            shown = after
        }

        func apply(_ change: Change) {
            switch change {
            case .initial(let now):
                sections = now.map { $0.map(\.id) }
                shown = show(now)
            case .update(let now, let deletions, let insertions, let modifications, let came, let went):
                updates += 1
                check(now, insertions, modifications)
                modified = modifications.map { [sections[$0.section][$0.item]] }
                for place in deletions.reversed() { sections[place.section].remove(at: place.item) }
                for section in went.reversed() { sections.remove(at: section) }
                for section in came { sections.insert([], at: section) }
                for place in insertions {
                    sections[place.section].insert(now[place.section][place.item].id, at: place.item)
                }
            }
        }
    }

    @Test("inserted and deleted sections are reported, and elements by section and index")
    func sectionsAndElements() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<6 { realm.add(Counter(id, count: id % 2)) } }
        let sections = realm.objects(Counter.self).sectioned(by: \.count)
        var last: Change?
        let mirror = Mirror()
        let token = sections.observe {
            last = $0
            mirror.apply($0)
        }
        #expect(mirror.sections == [[0, 2, 4], [1, 3, 5]])
        try realm.write {
            realm.add(Counter(9, count: 7))
            realm.delete(realm.objects(Counter.self)[0])
            realm.objects(Counter.self).first { $0.id == 3 }?.name = "new"
        }
        guard case .update(_, let deletions, let insertions, let modifications, let came, let went)? = last else {
            Issue.record("no update")
            return
        }
        #expect(deletions == [IndexPath(item: 0, section: 0)] && insertions == [IndexPath(item: 0, section: 2)])
        #expect(modifications == [IndexPath(item: 1, section: 1)] && came == [2] && went.isEmpty)
        #expect(mirror.sections == [[2, 4], [1, 3, 5], [9]] && mirror.modified == [[3]])
        try realm.write { realm.delete(realm.objects(Counter.self).where { $0.count == 0 }) }
        #expect(mirror.sections == [[1, 3, 5], [9]] && mirror.updates == 2)
        token.invalidate()
    }

    @Test("an element that moves in the results within its section is modified")
    func movedWithinASection() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 1...3 { realm.add(Counter(id, count: id)) } }
        let counters = realm.objects(Counter.self)
        let sections = counters.sectioned(
            by: { $0.count % 2 }, sortDescriptors: [SortDescriptor(keyPath: "count")])
        let mirror = Mirror()
        let token = sections.observe { mirror.apply($0) }
        try realm.write { counters[1].count = 4 }
        #expect(mirror.updates == 1 && mirror.modified == [[2]] && mirror.sections == [[1, 3], [2]])
        token.invalidate()
    }

    @Test("an element that changed and moved is deleted and inserted")
    func changedAndMoved() throws {
        let realm = try makeRealm([Counter.self])
        // Sections 1: 10, 2: 20 and 21, 3: 30.
        try realm.write { for id in [10, 20, 21, 30] { realm.add(Counter(id, count: id)) } }
        let counters = realm.objects(Counter.self)
        let sections = counters.sectioned(
            by: { $0.count / 10 }, sortDescriptors: [SortDescriptor(keyPath: "count")])
        var told: [String] = []
        func tell<Sections>(_ name: String, _ change: SectionedResultsChange<Sections>) {
            guard case .update(_, let deletions, let insertions, let modifications, let came, let went) = change else {
                return
            }
            let places = [deletions, insertions, modifications].map { $0.map { "\($0.section).\($0.item)" } }
            told.append("\(name) \(places) \(came) \(went)")
        }
        let tokens = [
            sections.observe { tell("all", $0) },
            sections[1].observe { tell("two", $0) },
        ]
        // The section is first now, and 21 has the place of 20.
        try realm.write {
            realm.delete(counters.where { $0.id == 10 || $0.id == 20 })
            realm.object(ofType: Counter.self, forPrimaryKey: 21)?.name = "new"
        }
        let both = #"[["1.0", "1.1"], ["0.0"], []] []"#
        #expect(told == ["all \(both) [0]", "two \(both) []"])
        told = []
        try realm.write {
            realm.object(ofType: Counter.self, forPrimaryKey: 21)?.name = "newer"
            realm.object(ofType: Counter.self, forPrimaryKey: 30)?.name = "new"
            realm.add(Counter(31, count: 29))
        }
        #expect(told == [#"all [[], ["0.1"], ["0.0", "1.0"]] [] []"#, #"two [[], ["0.1"], ["0.0"]] [] []"#])
        for token in tokens { token.invalidate() }
    }

    @Test("changes of sections applied to a mirror give the sections", arguments: UInt64(1)...6)
    func random(seed: UInt64) throws {
        var dice = Dice(state: seed)
        let realm = try makeRealm([Counter.self])
        let counters = realm.objects(Counter.self)
        let sections = counters.where { $0.count < 90 }.sectioned(
            by: { $0.count % 5 }, sortDescriptors: [SortDescriptor(keyPath: "count"), SortDescriptor(keyPath: "id")])
        let mirror = Mirror()
        let token = sections.observe { mirror.apply($0) }
        for step in 0..<60 {
            try realm.write {
                for _ in 0..<(1 + dice.roll(4)) {
                    switch dice.roll(4) {
                    case 0: realm.add(Counter(dice.roll(60), count: dice.roll(100)), update: .modified)
                    case 1: if !counters.isEmpty { realm.delete(counters[dice.roll(counters.count)]) }
                    case 2: if !counters.isEmpty { counters[dice.roll(counters.count)].count = dice.roll(100) }
                    default: if !counters.isEmpty { counters[dice.roll(counters.count)].name = "n\(dice.roll(9))" }
                    }
                }
            }
            #expect(mirror.sections == sections.map { $0.map(\.id) }, "seed \(seed), step \(step)")
            #expect(mirror.failures.isEmpty, "seed \(seed), step \(step)")
        }
        token.invalidate()
    }

    @Test("an observer of one section follows only that one, also when it disappears and reappears")
    func onlyOneSection() throws {
        let realm = try makeRealm([Counter.self])
        try realm.write { for id in 0..<4 { realm.add(Counter(id, count: id % 2)) } }
        let sections = realm.objects(Counter.self).sectioned(by: \.count)
        var told: [String] = []
        let token = sections[1].observe(keyPaths: [\.name]) { change in
            switch change {
            case .initial(let section): told.append("initial \(section.map(\.id))")
            case .update(let section, let deletions, let insertions, let modifications, let came, let went):
                told.append(
                    "\(section.map(\.id)) \(deletions.map(\.item)) \(insertions.map(\.item)) "
                        + "\(modifications.map(\.item)) \(came) \(went)")
            }
        }
        let counters = realm.objects(Counter.self)
        try realm.write { counters[0].name = "not in it" }
        try realm.write { counters[3].name = "new" }
        try realm.write { realm.delete(counters.where { $0.count == 1 }) }
        try realm.write { realm.add(Counter(8, count: 0)) }
        try realm.write { realm.add(Counter(9, count: 1)) }
        #expect(
            told == [
                "initial [1, 3]", "[1, 3] [] [] [1] [] []", "[] [] [] [] [] [1]", "[9] [] [0] [] [1] []",
            ])
        token.invalidate()
    }
}
