import Strata

/// Objects that own others of their class, many levels deep.
protocol DeepOwner: Object, SendableMetatype {
    var name: Int { get set }
    /// Owned.
    var parts: List<Self> { get }
    /// Owned.
    var next: Self? { get set }
    /// Owned together with others.
    var shared: List<Self> { get }
}

/// No denying rule: objects are deleted in waves.
final class Folder: Object, DeepOwner {
    @Persisted(primaryKey: true) var name: Int
    @Persisted(deleteRule: .cascade) var parts: List<Folder>
    @Persisted(deleteRule: .cascade) var next: Folder?
    @Persisted(deleteRule: .cascadeIfLast) var shared: List<Folder>
}

/// A denying rule: objects are deleted one by one.
final class GuardedFolder: Object, DeepOwner {
    @Persisted(primaryKey: true) var name: Int
    @Persisted(deleteRule: .cascade) var parts: List<GuardedFolder>
    @Persisted(deleteRule: .cascade) var next: GuardedFolder?
    @Persisted(deleteRule: .cascadeIfLast) var shared: List<GuardedFolder>
    @Persisted(deleteRule: .deny) var licence: Licence?
}

extension DeepOwner {
    private static var levels: Int { 7 }
    /// The first name of objects with several owners.
    private static var sharedNames: Int { 5_000 }

    /// Makes an object that owns two, each of which owns two, down to the last level.
    private static func make(_ name: Int, level: Int, _ realm: Realm) -> Self {
        let owner = Self()
        owner.name = name
        realm.add(owner)
        if level < levels {
            owner.parts.append(make(name * 2, level: level + 1, realm))
            owner.next = make(name * 2 + 1, level: level + 1, realm)
        }
        return owner
    }

    private static func names(_ realm: Realm) -> [Int] { realm.objects(Self.self).map(\.name).sorted() }

    /// Two trees, whose deepest objects own some of their own and some of both trees. One tree is deleted, with all
    /// levels and with the objects that only it owned.
    static func deleteTree(_ place: TrialPlace, inResults: Bool) throws -> PolicyTrials.Finding {
        let realm = try place.realm([Self.self, Licence.self])
        var kept: [Int] = []
        try realm.write {
            _ = make(1, level: 1, realm)
            let other = make(1 << levels, level: 1, realm)
            kept = names(realm).filter { isBelow($0, root: other.name) }
            guard let deepest = realm.object(ofType: Self.self, forPrimaryKey: (1 << levels) - 1) else { return }
            var owner = deepest
            for step in 0..<5 {
                let alone = Self()
                alone.name = sharedNames + step
                realm.add(alone)
                owner.shared.append(alone)
                owner = alone
            }
            let both = Self()
            both.name = sharedNames + 100
            realm.add(both)
            deepest.shared.append(both)
            other.shared.append(both)
            kept.append(both.name)
        }
        guard let gone = realm.object(ofType: Self.self, forPrimaryKey: 1) else { return .wrong("no tree") }
        try realm.write {
            if inResults {
                realm.delete(realm.objects(Self.self).filter("name == %@", gone.name))
            } else {
                realm.delete(gone)
            }
        }
        let expected = kept.sorted()
        return .all([
            .same("objects that are left", names(realm), expected),
            try place.elsewhere(realm) { .same("objects that are left, read anew", names($0), expected) },
        ])
    }

    /// Whether a name is that of the root or of a descendant.
    private static func isBelow(_ name: Int, root: Int) -> Bool {
        var name = name
        while name > root { name /= 2 }
        return name == root
    }
}
