import Harness
import RunRecords
import Strata

/// An object is deleted and a new one gets its key, in one transaction or in two.
struct RecreateSameKey: CellScenario {
    let slug = "recreate-same-key"
    let question = "Is an object that took the place of a deleted one another object?"

    enum Way: String, CaseIterable {
        case handle, links, list, observer, twoTransactions, checkedRead
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 5)
        let held: C = try place.cell(3, realm)
        let linking: C = try place.cell(1, realm)
        try realm.write {
            linking.partner = held
            linking.addPart(held)
        }
        var updates: [[[Int]]] = []
        let token = realm.objects(C.self).sorted(byKeyPath: "number").observe { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                updates.append([deletions, insertions, modifications])
            }
        }
        defer { token.invalidate() }
        if way == .twoTransactions {
            try realm.write { realm.delete(held) }
            try realm.write { realm.add(C.make(3)) }
        } else {
            try realm.write {
                realm.delete(held)
                realm.add(C.make(3))
            }
        }
        let new: C = try place.cell(3, realm)
        switch way {
        case .handle, .twoTransactions:
            return .all([
                .expect("the old handle is invalidated", held.isInvalidated, true),
                .expect("the new object is there", new.isInvalidated, false),
                .expect("they are equal", held == new, false),
            ])
        case .links: return .expect("the link is nil", linking.hasPartner, false)
        case .list: return .expect("entries of the list", linking.partCount, 0)
        case .observer:
            let moved = updates.map { $0.prefix(2).map(\.count) }
            return .expect("deletions and insertions of each update", moved, [[1, 1]])
        case .checkedRead:
            do {
                return .wrong("a checked read of the old handle gave \(try held.checkedTitle())")
            } catch Realm.Error.objectDeleted {
                return .right
            }
        }
    }
}
