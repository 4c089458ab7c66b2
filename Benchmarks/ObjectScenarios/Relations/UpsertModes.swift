import Harness
import RunRecords
import Strata

/// The two ways to update what is there already, through links and lists.
struct UpsertModes: ObjectTrialScenario {
    let slug = "upsert-modes"
    let family = Family.relations
    let question = "Does an upsert write what differs, and update nested objects instead of doubling them?"

    enum Way: String, CaseIterable {
        case modifiedTells, allEqual, nested, nestedNew, error, absentKeys, idempotent
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(ArticleClasses.all)
        try ArticleClasses.fill(realm, count: 3)
        guard let article = realm.object(ofType: Article.self, forPrimaryKey: 1) else { return .wrong("no article") }
        var told: [String] = []
        let token = article.observe { change in
            if case .change(_, let properties) = change { told += properties.map(\.name) }
        }
        defer { token.invalidate() }
        let same = Article()
        (same.id, same.title) = (1, "article 1")
        same.comments.append(Comment(value: ["id": 1, "text": "comment 1"]))
        switch way {
        case .modifiedTells:
            same.title = "another title"
            same.thumbnail = article.thumbnail
            same.categories.append(objectsIn: article.categories)
            try realm.write { realm.add(same, update: .modified) }
            return .expect("properties that changed", told, ["title"])
        case .allEqual:
            // Written again as it was: the versions do not differ in it.
            try realm.write {
                realm.create(Article.self, value: ["id": 1, "title": "article 1"], update: .all)
            }
            return .all([.expect("told", told, []), .expect("title", article.title, "article 1")])
        case .nested, .nestedNew: return try nested(way, realm, article)
        case .error:
            do {
                try realm.write { realm.add(same) }
                return .wrong("a second object of the same primary key was added")
            } catch Realm.Error.duplicateKey {
                return .expect("articles", realm.objects(Article.self).count, 3)
            }
        case .absentKeys:
            try realm.write { realm.create(Article.self, value: ["id": 1], update: .modified) }
            return .all([
                .expect("title", article.title, "article 1"), .expect("comments", article.comments.count, 1),
                .expect("properties that changed", told, []),
            ])
        case .idempotent:
            for _ in 0..<3 {
                try realm.write {
                    let comments: [[String: Any]] = [["id": 1, "text": "comment 1"]]
                    realm.create(
                        Article.self, value: ["id": 1, "title": "article 1", "comments": comments], update: .modified)
                }
            }
            return .all([
                .expect("counts", ArticleClasses.counts(realm), [3, 3, 3, 2]), .expect("told", told, []),
            ])
        }
    }

    private static func nested(_ way: Way, _ realm: Realm, _ article: Article) throws -> PolicyTrials.Finding {
        let comments: [[String: Any]] =
            way == .nested ? [["id": 1, "text": "edited"]] : [["id": 1], ["id": 9, "text": "new"]]
        try realm.write {
            realm.create(Article.self, value: ["id": 1, "comments": comments], update: .modified)
        }
        return .all([
            .expect("comments", realm.objects(Comment.self).count, way == .nested ? 3 : 4),
            .expect("texts", article.comments.map(\.text), way == .nested ? ["edited"] : ["comment 1", "new"]),
        ])
    }
}
