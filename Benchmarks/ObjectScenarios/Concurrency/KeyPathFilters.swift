import Harness
import RunRecords
import Strata

/// Observers with key paths, over links, lists, cycles and backlinks.
struct KeyPathFilters: ObjectTrialScenario {
    let slug = "key-path-filter"
    let family = Family.concurrency
    let question = "Is an observer of key paths told exactly of changes on them?"

    enum Way: String, CaseIterable {
        case own, ownOther, link, linkOther, list, listOther, listEntry, backlink, cycle, deep, insertionAlways
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(ArticleClasses.all)
        try ArticleClasses.fill(realm, count: 3)
        let articles = Array(realm.objects(Article.self).sorted(byKeyPath: "id"))
        let table = realm.objects(Article.self)
        try realm.write {
            for (index, article) in articles.enumerated() { article.related.append(articles[(index + 1) % 3]) }
        }
        var calls: [[Int]] = []
        let token = table.sorted(byKeyPath: "id").observe(keyPaths: [path(way)]) { change in
            if case .update(_, _, let insertions, let modifications) = change {
                calls.append(insertions + modifications)
            }
        }
        defer { token.invalidate() }
        realm.beginWrite()
        let expected = change(way, articles, realm)
        try realm.commitWrite()
        let told = calls
        // The control: an observer that got no call must be able to get one.
        try realm.write { control(way, articles) }
        return .all([
            .expect("indices told of", told, expected),
            .expect("indices told of for a change on the path", Array(calls.dropFirst(told.count)), [[0]]),
        ])
    }

    /// Changes something at the path of the first article only.
    private static func control(_ way: Way, _ articles: [Article]) {
        switch way {
        case .own, .ownOther, .insertionAlways: articles[0].title = "control"
        case .link, .linkOther: articles[0].thumbnail?.url = "control"
        case .list, .listOther, .listEntry: articles[0].comments.first?.text = "control"
        case .backlink: articles[2].title = "control"
        case .cycle: articles[1].title = "control"
        case .deep: articles[2].title = "control"
        }
    }

    private static func path(_ way: Way) -> String {
        switch way {
        case .own, .ownOther, .insertionAlways: "title"
        case .link, .linkOther: "thumbnail.url"
        case .list, .listOther, .listEntry: "comments.text"
        case .backlink: "relatedBy.title"
        case .cycle: "related.title"
        case .deep: "related.related.title"
        }
    }

    /// Changes something, inside a write.
    /// - Returns: for each expected call, its indices.
    private static func change(_ way: Way, _ articles: [Article], _ realm: Realm) -> [[Int]] {
        switch way {
        case .own:
            articles[1].title = "new"
            return [[1]]
        case .ownOther:
            articles[1].categories.removeAll()
            return []
        case .link:
            articles[1].thumbnail?.url = "new"
            return [[1]]
        case .linkOther:
            articles[1].comments.first?.text = "new"
            return []
        case .list:
            articles[2].comments.first?.text = "new"
            return [[2]]
        case .listOther:
            articles[2].thumbnail?.url = "new"
            return []
        case .listEntry:
            articles[0].comments.append(Comment(value: ["id": 50, "text": "new"]))
            return [[0]]
        case .backlink:
            articles[0].title = "new"
            return [[1]]
        case .cycle:
            articles[0].title = "new"
            return [[2]]
        case .deep:
            articles[0].title = "new"
            return [[1]]
        case .insertionAlways:
            realm.add(Article(value: ["id": 9]))
            return [[3]]
        }
    }
}
