import Harness
import RunRecords
import Strata

/// A child or a list of children is replaced by assignment or upsert. The previously owned objects must be deleted.
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
        /// The names of all embedded objects, with any parent.
        func frames() -> [String] { realm.dynamicObjects("Frame").map { $0["name"] as? String ?? "" }.sorted() }
        /// The names of the picture's objects.
        func held() -> [String?] { [picture.frame?.name] + picture.frames.map(\.name) }
        guard frames() == ["a", "b", "old"], held() == ["old", "a", "b"] else {
            return .wrong("\(frames()) embedded objects before")
        }
        switch way {
        case .embeddedAssignment:
            try realm.write { picture.frame = Frame(value: ["name": "new"]) }
            return .all([.expect("frames", frames(), ["a", "b", "new"]), .expect("held", held(), ["new", "a", "b"])])
        case .embeddedNil:
            try realm.write { picture.frame = nil }
            return .all([.expect("frames", frames(), ["a", "b"]), .expect("held", held(), [nil, "a", "b"])])
        case .embeddedUpsert:
            try realm.write {
                realm.create(Picture.self, value: ["id": 1, "frame": ["name": "new"]], update: .modified)
            }
            return .all([.expect("frames", frames(), ["a", "b", "new"]), .expect("held", held(), ["new", "a", "b"])])
        case .embeddedList:
            try realm.write { picture.frames.removeAll() }
            return .all([.expect("frames", frames(), ["old"]), .expect("held", held(), ["old"])])
        case .listUpsert:
            try realm.write {
                realm.create(Picture.self, value: ["id": 1, "frames": [["name": "c"]]], update: .all)
            }
            return .all([.expect("frames", frames(), ["c", "old"]), .expect("held", held(), ["old", "c"])])
        case .keyedUpsert:
            try realm.write {
                let comments: [[String: Any]] = [["id": 0, "text": "edited"], ["id": 7, "text": "new"]]
                realm.create(Article.self, value: ["id": 0, "comments": comments], update: .modified)
            }
            var shelf = ArticleShelf(count: 2)
            shelf.articles[0]?.comments = [0, 7]
            (shelf.comments[0], shelf.comments[7]) = ("edited", "new")
            return shelf.compare(realm)
        }
    }
}
