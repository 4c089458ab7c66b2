import Harness
import RunRecords
import Strata

/// The same object stands several times in one list.
struct DuplicateInList: ObjectTrialScenario {
    let slug = "duplicate-in-list"
    let family = Family.relations
    let question = "Has an object that stands n times in a list n backlinks, and go all with it?"

    enum Way: String, CaseIterable {
        case backlinks, deleted, oneRemoved, moved, manyTimes
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(ArticleClasses.all)
        try ArticleClasses.fill(realm, count: 3)
        let articles = Array(realm.objects(Article.self).sorted(byKeyPath: "id"))
        let (owner, twice) = (articles[0], articles[1])
        let times = way == .manyTimes ? 700 : 3
        try realm.write {
            owner.related.append(articles[2])
            for _ in 0..<times { owner.related.append(twice) }
        }
        switch way {
        case .backlinks, .manyTimes:
            return .all([
                .expect("backlinks", twice.relatedBy.count, times),
                .expect("owners", Set(twice.relatedBy.map(\.id)), [0]),
            ])
        case .deleted:
            try realm.write { realm.delete(twice) }
            return .expect("entries left", owner.related.map(\.id), [2])
        case .oneRemoved:
            try realm.write { owner.related.remove(at: 2) }
            return .all([
                .expect("entries left", owner.related.map(\.id), [2, 1, 1]),
                .expect("backlinks", twice.relatedBy.count, 2),
            ])
        case .moved:
            try realm.write { owner.related.move(from: 0, to: 3) }
            return .all([
                .expect("entries", owner.related.map(\.id), [1, 1, 1, 2]),
                .expect("backlinks", twice.relatedBy.count, 3),
            ])
        }
    }
}
