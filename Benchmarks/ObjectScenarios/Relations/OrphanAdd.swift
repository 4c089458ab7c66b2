import Harness
import RunRecords
import Strata

/// Objects that are added on one side of a relation only, and many-to-many relations.
struct OrphanAdd: ObjectTrialScenario {
    let slug = "orphan-add"
    let family = Family.relations
    let question = "Do both sides of a relation agree, also for an object without an owner?"

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
        case .orphan: return owned(dog, [alice, bob], by: [])
        case .adopted:
            try realm.write { alice.dogs.append(dog) }
            return owned(dog, [alice, bob], by: ["Alice"])
        case .movedToAnother:
            try realm.write { alice.dogs.append(dog) }
            try realm.write {
                alice.dogs.removeAll()
                bob.dogs.append(dog)
            }
            return owned(dog, [alice, bob], by: ["Bob"])
        case .manyToMany, .removedFromOne:
            var shelf = ArticleShelf(count: 4)
            if way == .removedFromOne {
                try realm.write { realm.object(ofType: Article.self, forPrimaryKey: 2)?.categories.removeAll() }
                shelf.articles[2]?.categories = []
            }
            return shelf.compare(realm)
        }
    }

    /// Both sides: the owner of the dog, and the dogs of Alice and Bob.
    private static func owned(
        _ dog: MatrixDog, _ people: [MatrixPerson], by expected: [String]
    ) -> PolicyTrials.Finding {
        .all([
            .expect("owners", dog.owners.map(\.name), expected),
            .expect("people who have it", people.filter { $0.dogs.contains(dog) }.map(\.name), expected),
            .expect("dogs", people.map(\.dogs.count), people.map { expected.contains($0.name) ? 1 : 0 }),
        ])
    }
}
