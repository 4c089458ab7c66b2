import Harness
import RunRecords
import Strata

/// Deletes ten articles. As their delete rules declare, owned objects must be deleted and shared ones must stay; the
/// same for folders that own folders, seven levels deep.
struct Cascade: ObjectTrialScenario {
    let slug = "cascade"
    let family = Family.relations
    let question = "Does deleting an object take with it what its delete rules say, and nothing else?"

    enum Way: String, CaseIterable {
        case cascade, oneOfTen, results, rollback, ifLast, ifLastBoth, deny, denyLifted, nullify, shared
        /// One object of many levels, and results of one; for classes with and without a denying rule.
        case deep, deepResults, deepGuarded, deepGuardedResults
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        switch way {
        case .deep, .deepResults: return try Folder.deleteTree(place, inResults: way == .deepResults)
        case .deepGuarded, .deepGuardedResults:
            return try GuardedFolder.deleteTree(place, inResults: way == .deepGuardedResults)
        default: break
        }
        let realm = try place.realm(ArticleClasses.all)
        try ArticleClasses.fill(realm)
        var shelf = ArticleShelf(count: 10)
        let articles = realm.objects(Article.self).sorted(byKeyPath: "id")
        switch way {
        case .cascade:
            try realm.write { realm.delete(Array(articles)) }
            for id in 0..<10 { shelf.delete(id) }
            return .all([
                .expect("articles, thumbnails, comments, categories", ArticleClasses.counts(realm), [0, 0, 0, 2]),
                shelf.compare(realm),
            ])
        case .oneOfTen:
            try realm.write { realm.delete(articles[4]) }
            shelf.delete(4)
        case .results:
            try realm.write { realm.delete(articles.filter("id < 7")) }
            for id in 0..<7 { shelf.delete(id) }
        case .rollback:
            realm.beginWrite()
            realm.delete(articles)
            realm.cancelWrite()
        case .ifLast, .ifLastBoth:
            try realm.write {
                let source = Source(value: ["name": "both"])
                articles[0].sources.append(source)
                articles[1].sources.append(source)
            }
            for id in [0, 1] { shelf.articles[id]?.sources = ["both"] }
            shelf.sources = ["both"]
            try realm.write { realm.delete(way == .ifLast ? [articles[0]] : [articles[0], articles[1]]) }
            for id in way == .ifLast ? [0] : [0, 1] { shelf.delete(id) }
        case .deny, .denyLifted: return try denied(way, realm, articles[0])
        case .nullify:
            try realm.write { realm.delete(realm.objects(Thumbnail.self)) }
            shelf.thumbnails = []
            for id in 0..<10 { shelf.articles[id]?.thumbnail = nil }
        case .shared:
            try realm.write {
                articles[1].comments.append(articles[0].comments[0])
                realm.delete(articles[0])
            }
            shelf.delete(0)
        case .deep, .deepResults, .deepGuarded, .deepGuardedResults: return .wrong("tried above")
        }
        let expected = shelf
        return .all([expected.compare(realm), try place.elsewhere(realm) { expected.compare($0) }])
    }

    private static func denied(_ way: Way, _ realm: Realm, _ article: Article) throws -> PolicyTrials.Finding {
        var shelf = ArticleShelf(count: 10)
        shelf.licences = ["in use"]
        try realm.write { article.licence = Licence(value: ["name": "in use"]) }
        if way == .denyLifted {
            try realm.write { article.licence = nil }
            try realm.write { realm.delete(article) }
            shelf.delete(0)
            return shelf.compare(realm)
        }
        do {
            try realm.write { realm.delete(article) }
            return .wrong("a rule that denies did not keep the write from its commit")
        } catch Realm.Error.deleteDenied {
            shelf.articles[0]?.licence = "in use"
            return shelf.compare(realm)
        }
    }
}
