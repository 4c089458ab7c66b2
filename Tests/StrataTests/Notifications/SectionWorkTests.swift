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

    @Test func `a key that depends on an unobserved property is correct with the next change`() throws {
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

    @Test func `keys of removed rows are not kept`() throws {
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
}
