import Harness
import RunRecords
import Strata

/// Ten articles are deleted. What they own has to go, what they share has to stay, as declared.
struct Cascade: ObjectTrialScenario {
    let slug = "cascade"
    let family = Family.relations
    let question = "Does deleting an object take with it what its delete rules say, and nothing else?"

    enum Way: String, CaseIterable {
        case cascade, oneOfTen, results, rollback, ifLast, ifLastBoth, deny, denyLifted, nullify, shared
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(ArticleClasses.all)
        try ArticleClasses.fill(realm)
        let articles = realm.objects(Article.self).sorted(byKeyPath: "id")
        switch way {
        case .cascade:
            try realm.write { realm.delete(Array(articles)) }
            return .expect("articles, thumbnails, comments, categories", ArticleClasses.counts(realm), [0, 0, 0, 2])
        case .oneOfTen:
            try realm.write { realm.delete(articles[4]) }
            return .all([
                .expect("articles, thumbnails, comments, categories", ArticleClasses.counts(realm), [9, 9, 9, 2]),
                .expect("comment left", realm.objects(Comment.self).filter("id == 4").count, 0),
                .expect("articles of a category", realm.objects(Category.self).first?.articles.count, 9),
            ])
        case .results:
            try realm.write { realm.delete(articles.filter("id < 7")) }
            return .expect("articles, thumbnails, comments, categories", ArticleClasses.counts(realm), [3, 3, 3, 2])
        case .rollback:
            realm.beginWrite()
            realm.delete(articles)
            realm.cancelWrite()
            return .all([
                .expect("articles, thumbnails, comments, categories", ArticleClasses.counts(realm), [10, 10, 10, 2]),
                .expect("thumbnail", articles[3].thumbnail?.url, "thumbnail 3"),
            ])
        case .ifLast, .ifLastBoth:
            try realm.write {
                let source = Source(value: ["name": "both"])
                articles[0].sources.append(source)
                articles[1].sources.append(source)
            }
            try realm.write { realm.delete(way == .ifLast ? [articles[0]] : [articles[0], articles[1]]) }
            return .expect("sources left", realm.objects(Source.self).count, way == .ifLast ? 1 : 0)
        case .deny, .denyLifted: return try denied(way, realm, articles[0])
        case .nullify:
            try realm.write { realm.delete(realm.objects(Thumbnail.self)) }
            return .all([
                .expect("articles", realm.objects(Article.self).count, 10),
                .expect("links that are left", articles.filter { $0.thumbnail != nil }.count, 0),
            ])
        case .shared:
            try realm.write {
                articles[1].comments.append(articles[0].comments[0])
                realm.delete(articles[0])
            }
            return .expect("entries of the other owner", articles.first { $0.id == 1 }?.comments.map(\.id), [1])
        }
    }

    private static func denied(_ way: Way, _ realm: Realm, _ article: Article) throws -> PolicyTrials.Finding {
        try realm.write { article.licence = Licence(value: ["name": "in use"]) }
        if way == .denyLifted {
            try realm.write { article.licence = nil }
            try realm.write { realm.delete(article) }
            return .expect("articles", realm.objects(Article.self).count, 9)
        }
        do {
            try realm.write { realm.delete(article) }
            return .wrong("a rule that denies did not keep the write from its commit")
        } catch Realm.Error.deleteDenied {
            return .expect("counts", ArticleClasses.counts(realm), [10, 10, 10, 2])
        }
    }
}
