import Harness
import RunRecords
import Strata

/// Frozen things are read on other threads while their originals change and go.
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
        let object = held.freeze()
        let (list, results) = (owner.parts.freeze(), realm.objects(C.self).freeze())
        let (backlinks, frozenOwner, all) = (held.holders.freeze(), owner.freeze(), realm.freeze())
        try realm.write { realm.deleteAll() }
        try realm.write { for number in 0..<5 { realm.add(C.make(number + 1_000)) } }
        switch way {
        case .object:
            return .all([
                .expect("title", object.title, "title 3"), .expect("isInvalidated", object.isInvalidated, false),
                .expect("isFrozen", object.isFrozen, true), .expect("the live one", held.isInvalidated, true),
            ])
        case .list: return .expect("numbers of the list", list.map(\.number), Array(2..<12))
        case .results: return .expect("numbers of the results", results.map(\.number).sorted(), Array(0..<50))
        case .backlinks: return .expect("owners", backlinks.map(\.number), [1])
        case .realm: return .expect("objects of the frozen database", all.objects(C.self).count, 50)
        case .link: return .expect("the linked object", frozenOwner.partner?.number, 3)
        case .threads:
            let frame = Shared(results)
            for _ in 0..<4 {
                let sum = try OtherThread.run { frame.value.reduce(0) { $0 + $1.number } }
                if sum != 1_225 { return .wrong("a thread added the numbers up to \(sum)") }
            }
            return .right
        case .thaw: return .expect("thawed", object.thaw() == nil, true)
        }
    }

    /// A frozen collection goes to other threads as it is.
    private struct Shared<Value>: @unchecked Sendable {  // frozen: nothing changes it
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
