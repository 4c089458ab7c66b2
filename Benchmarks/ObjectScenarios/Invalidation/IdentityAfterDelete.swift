import Harness
import RunRecords
import Strata

/// A user interface keeps the identity of an object in sets, in dictionaries and in list differences, where it outlives
/// the object.
struct IdentityAfterDelete: CellScenario {
    let slug = "identity-after-delete"
    let question = "Are hash, equality, id and description of a deleted object what they were?"

    enum Way: String, CaseIterable {
        case hash, equality, set, dictionary, description, otherHandle, recreated
    }

    static func trial<C: ShownObject>(_ way: Way, _ type: C.Type, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.cells(C.self, count: 5)
        let held: C = try place.cell(3, realm)
        let other: C = try place.cell(3, realm)
        let (hash, set, dictionary) = (held.hashValue, Set([held]), [held: "held"])
        try realm.write { realm.delete(try place.cell(3, realm) as C) }
        let finding: PolicyTrials.Finding
        switch way {
        case .hash: finding = .expect("hash", held.hashValue, hash)
        case .equality: finding = .expect("equal to itself", held == held, true)
        case .set: finding = .expect("in its set", set.contains(held), true)
        case .dictionary: finding = .expect("value under it", dictionary[other], "held")
        case .description:
            finding = .expect("the description names the class", held.description.contains("\(C.self)"), true)
        case .otherHandle:
            finding = .all([
                .expect("equal to another handle of it", held == other, true),
                .expect("hash of the other handle", other.hashValue, hash),
            ])
        case .recreated:
            try realm.write { realm.add(C.make(3)) }
            let new: C = try place.cell(3, realm)
            finding = .all([
                .expect("equal to the new object", held == new, false),
                .expect("the old one is invalidated", held.isInvalidated, true),
                .expect("the new one is not", new.isInvalidated, false),
            ])
        }
        return .all([finding, .expect("reports", place.reported.count, 0)])
    }
}
