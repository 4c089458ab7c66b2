import Harness
import RunRecords
import Strata

/// The inverse of a link, held while either end of the link is deleted.
struct BacklinksDeleted: CellScenario {
    let slug = "backlinks-deleted"
    let question = "What are the backlinks of a deleted object, and of an object whose owner is deleted?"

    enum Way: String, CaseIterable {
        case held, loop, first, ownerDeleted, entryRemoved, inWrite
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 4)
        let part: C = try place.cell(0, realm)
        let owner: C = try place.cell(1, realm)
        try realm.write { for number in 1..<4 { (try place.cell(number, realm) as C).addPart(part) } }
        let holders = part.holders
        guard holders.count == 3 else { return .wrong("wrong before the deletion") }
        switch way {
        case .held:
            try realm.write { realm.delete(part) }
            return .all([
                .expect("count", holders.count, 0), .expect("isInvalidated", holders.isInvalidated, true),
            ])
        case .loop:
            try realm.write { realm.delete(part) }
            return .expect("owners of a loop", holders.map(\.number), [])
        case .first:
            try realm.write { realm.delete(part) }
            return .expect("first is nil", holders.first == nil, true)
        case .ownerDeleted:
            try realm.write { realm.delete(owner) }
            return .expect("owners", holders.map(\.number).sorted(), [2, 3])
        case .entryRemoved:
            try realm.write { owner.parts.removeAll() }
            return .expect("owners", holders.map(\.number).sorted(), [2, 3])
        case .inWrite:
            realm.beginWrite()
            realm.delete(part)
            let count = holders.count
            realm.cancelWrite()
            let there = try place.elsewhere(realm) { realm in
                try TrialPlace.found(C.self, 0, realm).holders.map(\.number).sorted()
            }
            return .all([
                .expect("count inside the write", count, 0), .expect("count after it is cancelled", holders.count, 3),
                .expect("owners that another thread sees", there, [1, 2, 3]),
            ])
        }
    }
}
