import Harness
import RunRecords
import Strata

/// Frozen objects are read on other threads while their originals change and are deleted.
struct FrozenThings: CellScenario {
    let slug = "frozen"
    let question = "Are frozen objects and collections what they were, on any thread, whatever is deleted?"

    enum Way: String, CaseIterable {
        case object, list, results, backlinks, realm, link, threads, thaw
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 50)
        let held: C = try place.cell(3, realm)
        let owner: C = try place.cell(1, realm)
        try realm.write {
            for number in 2..<12 { owner.addPart(try place.cell(number, realm)) }
            owner.partner = held
        }
        let before = (0..<50).map { number in
            C.line(
                number, partner: number == 1 ? 3 : nil, parts: number == 1 ? Array(2..<12) : [],
                holders: (2..<12).contains(number) ? [1] : [])
        }
        // A frozen object shows the version of this Realm, not the one that another Realm has committed meanwhile.
        try place.elsewhere(realm) { other in try other.write { other.deleteAll() } }
        let object = held.freeze()
        let (list, results) = (owner.parts.freeze(), realm.objects(C.self).freeze())
        let (backlinks, frozenOwner, all) = (held.holders.freeze(), owner.freeze(), realm.freeze())
        try realm.write { realm.deleteAll() }
        // Enough commits that every reusable page is reused.
        for round in 1...20 {
            try realm.write {
                realm.deleteAll()
                for number in 0..<50 { realm.add(C.make(number + round * 1_000)) }
            }
        }
        switch way {
        case .object:
            return .all([
                .expect("object", object.line, before[3]), .expect("isInvalidated", object.isInvalidated, false),
                .expect("isFrozen", object.isFrozen, true), .expect("the live one", held.isInvalidated, true),
            ])
        case .list: return .same("objects of the list", list.map(\.line), Array(before[2..<12]))
        case .results: return .same("objects of the results", Self.sorted(results), before)
        case .backlinks: return .same("owners", backlinks.map(\.line), [before[1]])
        case .realm:
            return .all([
                .expect("count of the frozen database", all.objects(C.self).count, 50),
                .same("objects of the frozen database", C.lines(all), before),
            ])
        case .link: return .expect("the linked object", frozenOwner.partner?.line, before[3])
        case .threads:
            let frame = Shared(results)
            for _ in 0..<4 {
                let there = try OtherThread.run { Self.sorted(frame.value) }
                if there != before { return .same("objects to another thread", there, before) }
            }
            return .right
        case .thaw: return .expect("thawed", object.thaw() == nil, true)
        }
    }

    private static func sorted<C: ShownObject>(_ results: Strata.Results<C>) -> [String] {
        results.map { ($0.number, $0.line) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// A frozen collection is used on other threads directly.
    private struct Shared<Value>: @unchecked Sendable {  // frozen: nothing changes it
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
