import Harness
import RunRecords
import Strata

/// The same object occurs several times in one list.
struct DuplicateInList: ObjectTrialScenario {
    let slug = "duplicate-in-list"
    let family = Family.relations
    let question = "Does an object that is n times in a list have n backlinks, all deleted with it?"

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
        var shelf = ArticleShelf(count: 3)
        shelf.articles[0]?.related = [2] + Array(repeating: 1, count: times)
        switch way {
        case .backlinks, .manyTimes: break
        case .deleted:
            try realm.write { realm.delete(twice) }
            shelf.delete(1)
        case .oneRemoved:
            try realm.write { owner.related.remove(at: 2) }
            shelf.articles[0]?.related = [2, 1, 1]
        case .moved:
            try realm.write { owner.related.move(from: 0, to: 3) }
            shelf.articles[0]?.related = [1, 1, 1, 2]
        }
        return shelf.compare(realm)
    }
}
