import Harness
import RunRecords
import Strata

/// A child or a list of children is replaced: by assignment, by upsert. What was owned must not stay behind.
struct ReplaceChild: ObjectTrialScenario {
    let slug = "replace-child"
    let family = Family.relations
    let question = "Does replacing an owned child leave orphans behind?"

    enum Way: String, CaseIterable {
        case embeddedAssignment, embeddedNil, embeddedUpsert, embeddedList, listUpsert, keyedUpsert
    }

    final class Frame: EmbeddedObject {
        @Persisted var name = ""
    }

    final class Picture: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var frame: Frame?
        @Persisted var frames: List<Frame>
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(ArticleClasses.all + [Picture.self, Frame.self])
        try ArticleClasses.fill(realm, count: 2)
        let picture = Picture()
        try realm.write {
            picture.id = 1
            picture.frame = Frame(value: ["name": "old"])
            picture.frames.append(objectsIn: [Frame(value: ["name": "a"]), Frame(value: ["name": "b"])])
            realm.add(picture)
        }
        func frames() -> Int { realm.dynamicObjects("Frame").count }
        guard frames() == 3 else { return .wrong("\(frames()) embedded objects before") }
        switch way {
        case .embeddedAssignment:
            try realm.write { picture.frame = Frame(value: ["name": "new"]) }
            return .all([.expect("frames", frames(), 3), .expect("name", picture.frame?.name, "new")])
        case .embeddedNil:
            try realm.write { picture.frame = nil }
            return .expect("frames", frames(), 2)
        case .embeddedUpsert:
            try realm.write {
                realm.create(Picture.self, value: ["id": 1, "frame": ["name": "new"]], update: .modified)
            }
            return .all([.expect("frames", frames(), 3), .expect("name", picture.frame?.name, "new")])
        case .embeddedList:
            try realm.write { picture.frames.removeAll() }
            return .expect("frames", frames(), 1)
        case .listUpsert:
            try realm.write {
                realm.create(Picture.self, value: ["id": 1, "frames": [["name": "c"]]], update: .all)
            }
            return .all([
                .expect("frames of the list", picture.frames.map(\.name), ["c"]),
                .expect("frames", frames(), picture.frame == nil ? 1 : 2),
            ])
        case .keyedUpsert:
            try realm.write {
                let comments: [[String: Any]] = [["id": 0, "text": "edited"], ["id": 7, "text": "new"]]
                realm.create(Article.self, value: ["id": 0, "comments": comments], update: .modified)
            }
            let article = realm.object(ofType: Article.self, forPrimaryKey: 0)
            return .all([
                .expect("comments", article?.comments.map(\.text), ["edited", "new"]),
                .expect("comments in all", realm.objects(Comment.self).count, 3),
                .expect("title stays", article?.title, "article 0"),
            ])
        }
    }
}
