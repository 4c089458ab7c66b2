import Foundation
import Testing

@testable import Strata

/// Counts its instances in a static property: an instance has no state of its own, so that a walk may reuse it.
private class Counted: Object {
    nonisolated(unsafe) static var made = 0  // guarded by the suite, whose tests run one after the other

    @Persisted(primaryKey: true) var id = 0
    @Persisted var number = 0
    @Persisted var text = ""
    @Persisted var others: List<Counted>
    @Persisted(originProperty: "others") var fans: LinkingObjects<Counted>

    required init() {
        super.init()
        Self.made += 1
    }
}

private class Marked: Object {
    @Persisted(primaryKey: true) var id = 0
    var isSelected = false
}

private final class MarkedBelow: Marked {
    @Persisted var number = 0
}

private final class Lazy: Object {
    @Persisted(primaryKey: true) var id = 0
    lazy var words = "row \(id)"
}

private final class Ignoring: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var scratch = 0
    override static func ignoredProperties() -> [String] { ["scratch"] }
}

private class Ending: Object {
    nonisolated(unsafe) static var ended = 0  // guarded by the suite, whose tests run one after the other

    @Persisted(primaryKey: true) var id = 0
    deinit { Ending.ended += 1 }
}

private final class EndingBelow: Ending {
    @Persisted var number = 0
}

private final class Named: Object {
    @Persisted(primaryKey: true) var name = ""
    @Persisted var number = 0
}

private final class Older: Object {
    @Persisted(primaryKey: true) var id = 0
    let numbers = List<Int>()
}

private final class WeakBox<Value: AnyObject> {
    weak var object: Value?
    let id: Int
    init(_ object: Value, _ id: Int) { (self.object, self.id) = (object, id) }
}

private final class UnownedBox {
    unowned let object: Object
    init(_ object: Object) { self.object = object }
}

/// A walk reuses an instance to which the program has no other reference, so that the reuse cannot be noticed.
@Suite(.serialized)
struct WalkedObjectTests {
    private let rows = 200

    private func counted() throws -> (Realm, Results<Counted>) {
        let realm = try makeRealm([Counted.self])
        try realm.write {
            for id in 0..<rows {
                let made = Counted()
                (made.id, made.number, made.text) = (id, 3 * id, "text \(id)")
                realm.add(made)
            }
        }
        return (realm, realm.objects(Counted.self))
    }

    private func objects(_ body: () throws -> Void) rethrows -> Int {
        let before = Counted.made
        try body()
        return Counted.made - before
    }

    // MARK: Classes whose instances can be reused

    @Test("a class without stored properties and without a deinit can be reused") func reusableClass() {
        for type: ObjectBase.Type in [
            Marked.self, MarkedBelow.self, Lazy.self, Ignoring.self, Ending.self, EndingBelow.self, Older.self,
        ] {
            #expect(!ClassPlan.plan(for: type).isOnlyPlace, "\(type)")
        }
        #if arch(x86_64) && !DEBUG
            #expect(ReferenceCounts.alone != 0)
            #expect(ClassPlan.plan(for: Counted.self).isOnlyPlace && ClassPlan.plan(for: Named.self).isOnlyPlace)
        #endif
    }

    // MARK: Objects that the program does not keep

    @Test("a walk that keeps no object creates few, and reads every row") func fewObjects() throws {
        let (_, all) = try counted()
        var seen: [Int] = []
        let made = objects {
            for object in all {
                #expect(object.number == 3 * object.id && object.text == "text \(object.id)")
                seen.append(object.id)
            }
        }
        #expect(seen == Array(0..<rows))
        #if arch(x86_64) && !DEBUG
            #expect(made == 1)
        #endif
        #expect(all.map(\.number) == seen.map { 3 * $0 })
        #expect(all.reduce(0) { $0 + $1.number } == 3 * rows * (rows - 1) / 2)
    }

    @Test("a walk sees inserted, deleted and changed rows, inside and outside of a write") func changedRows() throws {
        let (realm, all) = try counted()
        var model = Dictionary(uniqueKeysWithValues: (0..<rows).map { ($0, 3 * $0) })
        var random = Dice(state: 11)
        func check() {
            var found: [(Int, Int)] = []
            for object in all { found.append((object.id, object.number)) }
            #expect(found.map(\.0) == model.keys.sorted() && found.map(\.1) == model.keys.sorted().map { model[$0] })
            let some = all.where { $0.number < 300 }
            found = []
            for object in some { found.append((object.id, object.number)) }
            #expect(found.map(\.0) == model.filter { $0.value < 300 }.keys.sorted())
        }
        for _ in 0..<30 {
            try realm.write {
                for _ in 0..<Int.random(in: 0..<20, using: &random) {
                    let id = Int.random(in: 0..<2 * rows, using: &random)
                    if let object = realm.object(ofType: Counted.self, forPrimaryKey: id) {
                        if Bool.random(using: &random) {
                            realm.delete(object)
                            model[id] = nil
                        } else {
                            object.number = Int.random(in: 0..<1000, using: &random)
                            model[id] = object.number
                        }
                    } else {
                        realm.create(Counted.self, value: ["id": id, "number": id])
                        model[id] = id
                    }
                }
                check()
            }
            check()
        }
    }

    // MARK: Objects that the program keeps

    @Test("a kept object stays unchanged") func keptObject() throws {
        let (_, all) = try counted()
        var kept: [Counted] = []
        let made = objects { for object in all where object.id % 3 == 0 { kept.append(object) } }
        #expect(kept.map(\.id) == Array(stride(from: 0, to: rows, by: 3)))
        #expect(Set(kept.map { ObjectIdentifier($0) }).count == kept.count && made >= kept.count)
        let array = Array(all)
        #expect(array.map(\.id) == Array(0..<rows) && Set(array.map { ObjectIdentifier($0) }).count == rows)
        var set: Set<Counted> = []
        for object in all { set.insert(object) }
        #expect(set.count == rows && array.allSatisfy { set.contains($0) })
        var calls: [() -> Int] = []
        for object in all { calls.append { object.id } }
        #expect(calls.map { $0() } == Array(0..<rows))
        var previous: Counted?
        for object in all {
            #expect(previous.map { $0 !== object && $0.id == object.id - 1 } ?? (object.id == 0))
            previous = object
        }
    }

    @Test("a weak reference never refers to another row's object") func weakReference() throws {
        let (_, all) = try counted()
        var boxes: [WeakBox<Counted>] = []
        for object in all {
            boxes.append(WeakBox(object, object.id))
            for box in boxes { #expect(box.object.map { $0.id == box.id } ?? true) }
        }
        #expect(boxes.allSatisfy { $0.object == nil })
    }

    @Test("an object with an unowned reference is not reused") func unownedReference() throws {
        let (_, all) = try counted()
        var boxes: [UnownedBox] = []
        let made = objects { for object in all.limit(8) { boxes.append(UnownedBox(object)) } }
        #expect(made == 8 && boxes.count == 8)
    }

    @Test("collections, observers and results of an object keep it") func whatKeepsAnObject() throws {
        let (realm, all) = try counted()
        try realm.write {
            for object in all where object.id > 0 { object.others.append(all[object.id - 1]) }
        }
        var lists: [List<Counted>] = []
        var fans: [LinkingObjects<Counted>] = []
        var tokens: [NotificationToken] = []
        let told = Locked<[Int: Int]>([:])
        for object in all {
            lists.append(object.others)
            fans.append(object.fans)
            let id = object.id
            tokens.append(object.observe { _ in told.with { $0[id, default: 0] += 1 } })
        }
        for id in 1..<rows {
            #expect(lists[id].map(\.id) == [id - 1] && fans[id - 1].map(\.id) == [id])
        }
        try realm.write { all[7].number = -1 }
        realm.refresh()
        #expect(told.current == [7: 1])
        tokens.forEach { $0.invalidate() }
    }

    @Test("the program's own stored properties are initialized for every object") func ownStoredProperties() throws {
        let realm = try makeRealm([Marked.self, MarkedBelow.self, Lazy.self])
        try realm.write {
            for id in 0..<10 {
                realm.create(Marked.self, value: ["id": id])
                realm.create(MarkedBelow.self, value: ["id": id])
                realm.create(Lazy.self, value: ["id": id])
            }
        }
        for object in realm.objects(Marked.self) {
            #expect(!object.isSelected)
            object.isSelected = true
        }
        for object in realm.objects(MarkedBelow.self) {
            #expect(!object.isSelected)
            object.isSelected = true
        }
        for object in realm.objects(Lazy.self) { #expect(object.words == "row \(object.id)") }
    }

    @Test("a deinit runs for every row of a walk") func deinitForEveryRow() throws {
        let realm = try makeRealm([Ending.self, EndingBelow.self])
        try realm.write {
            for id in 0..<10 {
                realm.create(Ending.self, value: ["id": id])
                realm.create(EndingBelow.self, value: ["id": id])
            }
        }
        var before = Ending.ended
        for object in realm.objects(Ending.self) { #expect(Ending.ended - before == object.id) }
        #expect(Ending.ended - before == 10)
        before = Ending.ended
        for object in realm.objects(EndingBelow.self) { #expect(Ending.ended - before == object.id) }
        #expect(Ending.ended - before == 10)
    }

    @Test("a walk over a frozen Realm creates every object") func frozenRealm() throws {
        let (_, all) = try counted()
        let frozen = all.freeze()
        let made = objects { for object in frozen { #expect(object.isFrozen) } }
        #expect(made == rows)
    }

    @Test("a collection kept in a field belongs to its own row") func keptCollection() throws {
        let realm = try makeRealm([Older.self])
        try realm.write {
            for id in 0..<10 {
                let object = Older()
                object.id = id
                object.numbers.append(objectsIn: 0..<id)
                realm.add(object)
            }
        }
        for object in realm.objects(Older.self) { #expect(object.numbers.count == object.id) }
    }

    // MARK: Identity

    @Test("a deleted object's primary key stays readable") func deletedKeyIsReadable() throws {
        let realm = try makeRealm([Named.self])
        try realm.write { for id in 0..<10 { realm.create(Named.self, value: ["name": "row \(id)", "number": id]) } }
        var names: [String] = []
        try realm.write {
            for object in realm.objects(Named.self) {
                let name = object.name
                realm.delete(object)
                #expect(object.isInvalidated && object.name == name)
                names.append(name)
            }
        }
        #expect(Set(names) == Set((0..<10).map { "row \($0)" }) && realm.objects(Named.self).isEmpty)
    }

    @Test("an object of a cancelled write is invalid, also where another row's came before it")
    func cancelledWrite() throws {
        let (realm, all) = try counted()
        var kept: Counted?
        realm.beginWrite()
        realm.create(Counted.self, value: ["id": rows])
        for object in all where object.id == rows { kept = object }
        realm.cancelWrite()
        try realm.write { realm.create(Counted.self, value: ["id": rows]) }
        #expect(kept?.isInvalidated == true && all.last?.isSameObject(as: kept) == false)
        // The reverse: a row from before the write is not invalidated with it.
        realm.beginWrite()
        realm.create(Counted.self, value: ["id": -1])
        for object in all where object.id == 0 { kept = object }
        realm.cancelWrite()
        #expect(kept?.isInvalidated == false && kept?.id == 0)
    }

    @Test("a row deleted during its walk appears as a separate, invalid object") func rowDeletedMeanwhile() throws {
        let (realm, all) = try counted()
        var missing = 0
        try realm.write {
            for object in all {
                if object.isInvalidated {
                    missing += 1
                    #expect(object._key == 2 * missing - 1)
                    continue
                }
                #expect(object.id == 2 * missing && object.number == 3 * object.id)
                realm.delete(all.where { $0.id == object.id + 1 })
            }
        }
        #expect(missing == rows / 2 && all.count == rows / 2)
    }

    // MARK: Walks of every form

    @Test("writing every object of a walk writes its own row") func writtenRows() throws {
        let (realm, all) = try counted()
        try realm.write { for object in all { object.number = object.id + 1 } }
        try realm.write { for object in all.where({ $0.number > 100 }) { object.text = "\(object.number)" } }
        for object in all {
            #expect(object.number == object.id + 1)
            #expect(object.text == (object.number > 100 ? "\(object.number)" : "text \(object.id)"))
        }
    }

    @Test("nested, lazy and abandoned walks have separate objects") func separateWalks() throws {
        let (_, all) = try counted()
        let few = all.where { $0.id < 12 }
        var pairs = 0
        for outer in few {
            for inner in few {
                #expect(outer !== inner && outer.id == pairs / 12 && inner.id == pairs % 12)
                pairs += 1
            }
        }
        #expect(pairs == 144)
        #expect(all.first { $0.id == 50 }?.id == 50)
        let lazily = all.lazy.map { $0 }.filter { $0.id % 40 == 0 }
        #expect(Array(lazily).map(\.id) == [0, 40, 80, 120, 160])
        let largest = all.max { $0.number < $1.number }
        #expect(largest?.id == rows - 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.id + 1 == $1.id })
        #expect(all.sorted { $0.id > $1.id }.map(\.id) == Array((0..<rows).reversed()))

        struct Left: Error {}
        var left: Counted?
        #expect(throws: Left.self) {
            for object in all where object.id == 5 {
                left = object
                throw Left()
            }
        }
        for object in all { #expect(object !== left) }
        #expect(left?.id == 5)
    }

    @Test("copies of an iterator continue independently from the same row") func copiedIterators() throws {
        let (_, all) = try counted()
        var one = all.makeIterator()
        let first = one.next()
        var other = one
        let (second, same) = (other.next(), one.next())
        #expect(first?.id == 0 && second?.id == 1 && same?.id == 1 && second !== same && second == same)
        let later = [other.next()?.id, other.next()?.id, one.next()?.id]
        #expect(later == [2, 3, 2] && first?.id == 0 && second?.id == 1)
    }
}
