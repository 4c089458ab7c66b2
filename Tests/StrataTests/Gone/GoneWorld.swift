import Foundation
import Strata

final class GonePart: EmbeddedObject {
    @Persisted var label = "part"
}

final class GoneDog: Object, ObjectKeyIdentifiable {
    @Persisted(primaryKey: true) var key = 0
    @Persisted var name = "Rex"
    @Persisted var age = 3
    @Persisted var note: AnyRealmValue
    @Persisted var mother: GoneDog?
    @Persisted var part: GonePart?
    @Persisted var friends: List<GoneDog>
    @Persisted var tags: List<String>
    @Persisted var marks: List<Int>
    @Persisted var spare: List<Int?>
    @Persisted var pals: MutableSet<GoneDog>
    @Persisted var colours: MutableSet<String>
    @Persisted var sizes: MutableSet<Int>
    @Persisted var spareSizes: MutableSet<Int?>
    @Persisted var kennels: Map<String, GoneDog?>
    @Persisted var counts: Map<String, Int>
    @Persisted var notes: List<AnyRealmValue>
    @Persisted(originProperty: "friends") var befriended: LinkingObjects<GoneDog>
    let weight = RealmProperty<Double?>()
}

final class GoneView: Projection<GoneDog> {
    @Projected(\GoneDog.name) var name
    @Projected(\GoneDog.friends.projectTo.name) var friendNames: ProjectedCollection<String>
}

/// What happened to the objects of a ``GoneWorld`` before its members are called.
enum GoneKind: String, CaseIterable, Codable, Sendable {
    /// The owner of everything was deleted.
    case deleted
    /// The object is there, and its collections are empty.
    case emptied
    /// Everything exists; only indexes and ranges are out of bounds.
    case wild
    /// The object was inserted in a write that was cancelled.
    case cancelled
    /// The Realm was invalidated, so that it shows no version.
    case invalidated
    /// Frozen after the object was deleted.
    case frozen
    /// The object is deleted in the same write.
    case deletedNow
}

/// One dog with every kind of link, held by a program that does not know of its deletion.
final class GoneWorld {
    static let places = [-1, 0, 2, 7, Int.max, Int.min]

    let realm: Realm
    let kind: GoneKind
    let other: GoneDog
    private(set) var dog: GoneDog
    private(set) var friends: List<GoneDog>
    private(set) var tags: List<String>
    private(set) var marks: List<Int>
    private(set) var spare: List<Int?>
    private(set) var pals: MutableSet<GoneDog>
    private(set) var colours: MutableSet<String>
    private(set) var sizes: MutableSet<Int>
    private(set) var spareSizes: MutableSet<Int?>
    private(set) var kennels: Map<String, GoneDog?>
    private(set) var counts: Map<String, Int>
    private(set) var notes: List<AnyRealmValue>
    private(set) var nested: List<AnyRealmValue>
    private(set) var befriended: LinkingObjects<GoneDog>
    private(set) var results: Results<GoneDog>
    private(set) var values: Results<String>
    private(set) var any: AnyRealmCollection<GoneDog>
    private(set) var sections: SectionedResults<String, GoneDog>
    private(set) var section: ResultsSection<String, GoneDog>
    private(set) var snapshot: ResultsSnapshot<GoneDog>
    private(set) var view: GoneView
    private(set) var names: ProjectedCollection<String>
    private(set) var views: Results<GoneView>
    let dynamic: DynamicObject
    let reference: ThreadSafeReference<GoneDog>
    let listReference: ThreadSafeReference<List<GoneDog>>
    let threadSafe: ThreadSafe<GoneDog>

    /// - Parameter handler: called for every access to a deleted object.
    convenience init(
        _ kind: GoneKind, _ policy: Realm.Configuration.InvalidAccess,
        _ handler: @escaping @Sendable (Realm.Configuration.InvalidAccessReport) -> Void
    ) throws {
        try self.init(
            kind, in: makeRealm([GoneDog.self, GonePart.self], invalidAccess: policy, handler: handler), from: 0)
        try go()
    }

    /// Adds the objects to a Realm, which other threads may change, and deletes none.
    /// - Parameter first: the first key of the objects.
    init(_ kind: GoneKind, in realm: Realm, from first: Int) throws {
        self.kind = kind
        self.realm = realm
        if kind == .cancelled {
            try realm.write { realm.add(Self.make(first + 2)) }
            realm.beginWrite()
        }
        let made = Self.make(first + 1)
        try Self.add(made, to: realm, from: first, isInWrite: kind == .cancelled)
        dog = made
        other = realm.objects(GoneDog.self).where { $0.key == first + 2 }[0]
        (friends, tags, marks, spare) = (dog.friends, dog.tags, dog.marks, dog.spare)
        (pals, colours, sizes, spareSizes) = (dog.pals, dog.colours, dog.sizes, dog.spareSizes)
        (kennels, counts, notes, befriended) = (dog.kennels, dog.counts, dog.notes, dog.befriended)
        nested = dog.notes[1].listValue ?? List()
        results = dog.friends.sorted(by: \.name)
        values = dog.tags.sorted()
        any = AnyRealmCollection(dog.friends)
        sections = dog.friends.sectioned(by: \.name)
        section = sections[sections.count - 1]
        snapshot = results.snapshot()
        view = GoneView(projecting: dog)
        names = view.friendNames
        views = realm.objects(GoneView.self).where { $0.key >= first + 10 && $0.key < first + 20 }
        dynamic = realm.dynamicObject(ofType: "GoneDog", forPrimaryKey: first + 1) ?? DynamicObject()
        reference = ThreadSafeReference(to: dog)
        listReference = ThreadSafeReference(to: dog.friends)
        threadSafe = ThreadSafe(wrappedValue: dog)
    }

    private static func make(_ key: Int) -> GoneDog {
        let dog = GoneDog()
        dog.key = key
        return dog
    }

    private static func add(_ dog: GoneDog, to realm: Realm, from first: Int, isInWrite: Bool) throws {
        if !isInWrite { realm.beginWrite() }
        realm.add(dog)
        let friends = (10..<13).map { make(first + $0) }
        for (place, friend) in friends.enumerated() {
            friend.name = "friend \(place)"
            friend.friends.append(dog)
        }
        dog.friends.append(objectsIn: friends)
        dog.tags.append(objectsIn: ["a", "b", "c"])
        dog.marks.append(objectsIn: [1, 2, 3])
        dog.spare.append(objectsIn: [1, nil, 3])
        dog.pals.insert(objectsIn: friends)
        dog.colours.insert(objectsIn: ["red", "blue"])
        dog.sizes.insert(objectsIn: [1, 2, 3])
        dog.spareSizes.insert(objectsIn: [1, nil])
        for (place, friend) in friends.enumerated() { dog.kennels["k\(place)"] = friend }
        dog.counts["x"] = 1
        dog.counts["y"] = 2
        dog.notes.append(objectsIn: [.int(1), .fromArray([.int(2), .int(3)]), .string("s")])
        dog.part = GonePart()
        dog.mother = friends[0]
        if !isInWrite {
            realm.add(make(first + 2))
            try realm.commitWrite()
        }
    }

    private func go() throws {
        switch kind {
        case .wild: return
        case .deleted, .frozen: try realm.write { realm.delete(dog) }
        case .deletedNow: try realm.write { realm.delete(realm.objects(GoneDog.self).where { $0.key >= 10 }) }
        case .cancelled: realm.cancelWrite()
        case .invalidated: realm.invalidate()
        case .emptied:
            try realm.write {
                for list in [friends] { list.removeAll() }
                tags.removeAll()
                marks.removeAll()
                spare.removeAll()
                pals.removeAll()
                colours.removeAll()
                sizes.removeAll()
                kennels.removeAll()
                counts.removeAll()
                notes.removeAll()
                realm.delete(realm.objects(GoneDog.self).where { $0.key >= 10 })
            }
        }
        if kind == .frozen { freeze() }
    }

    private func freeze() {
        (friends, tags, marks, spare) = (friends.freeze(), tags.freeze(), marks.freeze(), spare.freeze())
        (pals, colours, sizes) = (pals.freeze(), colours.freeze(), sizes.freeze())
        (kennels, counts, notes, nested) = (kennels.freeze(), counts.freeze(), notes.freeze(), nested.freeze())
        (befriended, results, values) = (befriended.freeze(), results.freeze(), values.freeze())
        (any, sections, section, names) = (any.freeze(), sections.freeze(), section.freeze(), names.freeze())
        (view, views, spareSizes, dog) = (view.freeze(), views.freeze(), spareSizes.freeze(), dog.freeze())
    }

    /// Whether every object existed when the world was made; other threads may have deleted some.
    var isComplete: Bool { dynamic.realm != nil && nested.realm != nil }

    /// Whether the objects may be observed and changed; doing so with frozen ones is misuse.
    var isLive: Bool { kind != .frozen }

    /// Runs a change in a write, which may fail.
    func change(_ body: () throws -> Void) {
        guard isLive else { return }
        do {
            try realm.write {
                if kind == .deletedNow, !dog.isInvalidated { realm.delete(dog) }
                try body()
            }
        } catch {}
    }
}
