import Harness
import RunRecords
import Strata

/// Objects that are added on one side of a relation only, and relations of many to many.
struct OrphanAdd: ObjectTrialScenario {
    let slug = "orphan-add"
    let family = Family.relations
    let question = "Has an object without an owner none, and do both sides of a relation agree?"

    enum Way: String, CaseIterable {
        case orphan, adopted, manyToMany, removedFromOne, movedToAnother
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let realm = try place.realm(ArticleClasses.all + [MatrixDog.self, MatrixPerson.self])
        try ArticleClasses.fill(realm, count: 4)
        let (dog, alice, bob) = (MatrixDog(), MatrixPerson(), MatrixPerson())
        (alice.name, bob.name) = ("Alice", "Bob")
        try realm.write {
            realm.add(dog)
            realm.add([alice, bob])
        }
        switch way {
        case .orphan: return .expect("owners", dog.owners.count, 0)
        case .adopted:
            try realm.write { alice.dogs.append(dog) }
            return .expect("owners", dog.owners.map(\.name), ["Alice"])
        case .movedToAnother:
            try realm.write { alice.dogs.append(dog) }
            try realm.write {
                alice.dogs.removeAll()
                bob.dogs.append(dog)
            }
            return .expect("owners", dog.owners.map(\.name), ["Bob"])
        case .manyToMany, .removedFromOne:
            if way == .removedFromOne {
                try realm.write { realm.object(ofType: Article.self, forPrimaryKey: 2)?.categories.removeAll() }
            }
            var there: Set<String> = []
            for article in realm.objects(Article.self) {
                for category in article.categories { there.insert("\(article.id) \(category.name)") }
            }
            var back: Set<String> = []
            for category in realm.objects(Category.self) {
                for article in category.articles { back.insert("\(article.id) \(category.name)") }
            }
            return .all([
                .expect("both sides", back, there), .expect("links", there.count, way == .manyToMany ? 8 : 6),
            ])
        }
    }
}
