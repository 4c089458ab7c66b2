import Harness
import RunRecords
import Strata

/// The two modes of an upsert, through links and lists, and for a class with every type.
struct UpsertModes: ObjectTrialScenario {
    let slug = "upsert-modes"
    let family = Family.relations
    let question = "Does an upsert write what differs, and update nested objects instead of doubling them?"

    enum Way: String, CaseIterable {
        case modifiedTells, allEqual, nested, nestedNew, error, absentKeys, idempotent
        /// For each property an upsert that gives only that property.
        case everyType, everyTypeAll
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        switch way {
        case .everyType: return try EveryType.upsertEach(place, .modified)
        case .everyTypeAll: return try EveryType.upsertEach(place, .all)
        default: break
        }
        let realm = try place.realm(ArticleClasses.all)
        try ArticleClasses.fill(realm, count: 3)
        guard let article = realm.object(ofType: Article.self, forPrimaryKey: 1) else { return .wrong("no article") }
        var shelf = ArticleShelf(count: 3)
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
            shelf.articles[1]?.title = "another title"
            return .all([.expect("properties that changed", told, ["title"]), shelf.compare(realm)])
        case .allEqual:
            // Writes the value that is stored, so that the versions before and after do not differ in it.
            try realm.write {
                realm.create(Article.self, value: ["id": 1, "title": "article 1"], update: .all)
            }
            return .all([.expect("told", told, []), shelf.compare(realm)])
        case .nested, .nestedNew: return try nested(way, realm)
        case .error:
            do {
                try realm.write { realm.add(same) }
                return .wrong("a second object of the same primary key was added")
            } catch Realm.Error.duplicateKey {
                return shelf.compare(realm)
            }
        case .absentKeys:
            try realm.write { realm.create(Article.self, value: ["id": 1], update: .modified) }
            return .all([.expect("properties that changed", told, []), shelf.compare(realm)])
        case .idempotent:
            for _ in 0..<3 {
                try realm.write {
                    let comments: [[String: Any]] = [["id": 1, "text": "comment 1"]]
                    realm.create(
                        Article.self, value: ["id": 1, "title": "article 1", "comments": comments], update: .modified)
                }
            }
            return .all([.expect("told", told, []), shelf.compare(realm)])
        case .everyType, .everyTypeAll: return .wrong("tried above")
        }
    }

    private static func nested(_ way: Way, _ realm: Realm) throws -> PolicyTrials.Finding {
        var shelf = ArticleShelf(count: 3)
        let comments: [[String: Any]] =
            way == .nested ? [["id": 1, "text": "edited"]] : [["id": 1], ["id": 9, "text": "new"]]
        try realm.write {
            realm.create(Article.self, value: ["id": 1, "comments": comments], update: .modified)
        }
        if way == .nested {
            shelf.comments[1] = "edited"
        } else {
            shelf.comments[9] = "new"
            shelf.articles[1]?.comments = [1, 9]
        }
        return shelf.compare(realm)
    }
}
