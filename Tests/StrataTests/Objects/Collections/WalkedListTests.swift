import Foundation
import Testing

@testable import Strata

/// Counts its instances in a static property: an instance has no state of its own, so that an iteration may reuse it.
private final class Member: Object {
    nonisolated(unsafe) static var made = 0  // guarded by the suite, whose tests run one after the other

    @Persisted(primaryKey: true) var id = 0
    @Persisted var number = 0
    @Persisted var friends: List<Member>
    @Persisted(originProperty: "members") var teams: LinkingObjects<Team>
    @Persisted(originProperty: "circle") var circles: LinkingObjects<Team>

    required init() {
        super.init()
        Self.made += 1
    }
}

private final class Team: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var members: List<Member>
    @Persisted var circle: MutableSet<Member>
}

private final class Selected: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var others: List<Selected>
    var isSelected = false
}

private final class WeakMember {
    weak var object: Member?
    let id: Int
    init(_ object: Member) { (self.object, id) = (object, object.id) }
}

/// An iteration over a list, a set or inverse links reuses one instance for all rows while the program has no reference
/// to it. The next collection's iteration reuses it as well.
@Suite(.serialized)
struct WalkedListTests {
    private let rows = 40

    private func realm(_ file: TemporaryFile? = nil) throws -> Realm {
        let types: [ObjectBase.Type] = [Member.self, Team.self]
        let realm = try file.map { try Realm(configuration: $0.configuration(types)) } ?? makeRealm(types)
        try realm.write {
            let members = (0..<rows).map { Member(value: ["id": $0, "number": 3 * $0]) }
            realm.add(members)
            for id in 0..<rows {
                let team = Team()
                team.id = id
                for step in 0..<(id % 6) { team.members.append(members[(id + 7 * step) % rows]) }
                team.circle.insert(objectsIn: Array(team.members))
                realm.add(team)
                members[id].friends.append(objectsIn: (0..<3).map { members[(id + $0) % rows] })
            }
        }
        return realm
    }

    private func objects(_ body: () throws -> Void) rethrows -> Int {
        let before = Member.made
        try body()
        return Member.made - before
    }

    private func isReusing() -> Bool {
        #if arch(x86_64) && !DEBUG
            true
        #else
            false
        #endif
    }

    // MARK: The program keeps no object

    @Test("iterations over many lists and sets make one object, and read every row") func oneObjectForMany() throws {
        let realm = try realm()
        let teams = Array(realm.objects(Team.self))
        var found: [[Int]] = []
        let made = objects {
            for team in teams {
                var ids: [Int] = []
                for member in team.members {
                    #expect(member.number == 3 * member.id)
                    ids.append(member.id)
                }
                found.append(ids)
                var circle: [Int] = []
                for member in team.circle { circle.append(member.id) }
                #expect(circle == ids.sorted() && team.members.count == ids.count && team.circle.count == ids.count)
            }
        }
        #expect(found == (0..<rows).map { id in (0..<(id % 6)).map { (id + 7 * $0) % rows } })
        if isReusing() { #expect(made == 1) }
    }

    @Test("iterations over inverse links read every row") func inverseLinks() throws {
        let realm = try realm()
        let members = Array(realm.objects(Member.self))
        let wanted = (0..<rows).map { member in
            (0..<rows).filter { team in (0..<(team % 6)).contains { (team + 7 * $0) % rows == member } }
        }
        for member in members {
            var ids: [Int] = []
            for team in member.teams { ids.append(team.id) }
            #expect(ids == wanted[member.id] && member.circles.map(\.id) == ids)
        }
    }

    @Test("loops within loops over lists of one class have objects of their own") func loopsWithinLoops() throws {
        let realm = try realm()
        for member in realm.objects(Member.self) {
            var ids: [Int] = []
            for friend in member.friends {
                for other in friend.friends {
                    #expect(other !== friend && other !== member)
                    ids.append(other.id)
                }
                #expect((friend.id - member.id + rows) % rows == ids.count / 3 - 1)
            }
            #expect(ids == (0..<9).map { (member.id + $0 / 3 + $0 % 3) % rows })
        }
    }

    // MARK: Changes

    @Test("collections that change are iterated as they are, in a write and outside", arguments: [3, 17] as [UInt64])
    func changingCollections(seed: UInt64) throws {
        let realm = try realm()
        var script = Script(realm, rows, seed)
        for round in 0..<12 {
            realm.beginWrite()
            let before = script.model
            for step in 0..<8 {
                try script.change(round, step)
                if step % 4 == 1 { script.model.check(realm, "seed \(seed), round \(round), step \(step)") }
            }
            if script.below(4) == 0 {
                realm.cancelWrite()
                script.model = before
            } else {
                try realm.commitWrite()
            }
            script.model.check(realm, "seed \(seed), round \(round)")
            script.model.check(realm.freeze(), "seed \(seed), round \(round), frozen")
            for (member, id) in script.kept where !member.isInvalidated { #expect(member.id == id) }
        }
    }

    @Test("in a write the elements of the start are iterated, deleted ones as invalid objects")
    func elementsOfTheStart() throws {
        let realm = try realm()
        try realm.write {
            let team = try #require(realm.object(ofType: Team.self, forPrimaryKey: 5))
            let ids = team.members.map(\.id)
            var (found, gone): ([Int], [Int64]) = ([], [])
            for member in team.members {
                if member.isInvalidated {
                    gone.append(member._key)
                    continue
                }
                found.append(member.id)
                let next = (member.id + 7) % rows
                if let other = realm.object(ofType: Member.self, forPrimaryKey: next) { realm.delete(other) }
                team.members.append(member)
            }
            #expect(found == [ids[0], ids[2], ids[4]] && gone == [Int64(ids[1]), Int64(ids[3])])
            #expect(team.members.map(\.id) == [ids[0], ids[2], ids[4], ids[0], ids[2], ids[4]])
            #expect(team.members.count == 6)
        }
    }

    // MARK: The program keeps objects

    @Test("an object that is kept of a list stays what it is") func keptObject() throws {
        let realm = try realm()
        var kept: [(Member, Int)] = []
        var boxes: [WeakMember] = []
        var closures: [() -> Bool] = []
        for team in realm.objects(Team.self) {
            for member in team.members {
                if member.id % 3 == 0 { kept.append((member, member.id)) }
                if member.id % 5 == 1 { boxes.append(WeakMember(member)) }
                if member.id % 7 == 2 {
                    let id = member.id
                    closures.append { member.id == id && member.number == 3 * id }
                }
                for box in boxes { #expect(box.object.map { $0.id == box.id } ?? true) }
            }
        }
        #expect(kept.allSatisfy { $0.0.id == $0.1 } && closures.allSatisfy { $0() } && !closures.isEmpty)
        #expect(Set(kept.map { ObjectIdentifier($0.0) }).count == kept.count && kept.count > 10)
        let loose = boxes.filter { $0.id % 3 != 0 && $0.id % 7 != 2 }
        #expect(loose.allSatisfy { $0.object == nil } && !loose.isEmpty)
        let arrays = realm.objects(Team.self).map { Array($0.members) }
        #expect(arrays.map { $0.map(\.id) } == (0..<rows).map { id in (0..<(id % 6)).map { (id + 7 * $0) % rows } })
    }

    @Test("the last object of an ended iteration is not used again while it is kept") func lastObjectIsKept() throws {
        let realm = try realm()
        let teams = Array(realm.objects(Team.self).where { $0.id > 1 && $0.id < 6 })
        var last: Member?
        var earlier: [(Member, Int)] = []
        for team in teams {
            for member in team.members { last = member }
            for (member, id) in earlier { #expect(member.id == id) }
            if let last { earlier.append((last, last.id)) }
        }
        #expect(earlier.map(\.1) == teams.map { ($0.id + 7 * ($0.id - 1)) % rows })
        #expect(earlier.allSatisfy { $0.0.id == $0.1 })
    }

    @Test("objects of a class with state of its own are made anew") func classWithOwnState() throws {
        let realm = try makeRealm([Selected.self])
        try realm.write {
            for id in 0..<10 { realm.create(Selected.self, value: ["id": id]) }
            for object in realm.objects(Selected.self) { object.others.append(objectsIn: realm.objects(Selected.self)) }
        }
        for object in realm.objects(Selected.self) {
            for other in object.others {
                #expect(!other.isSelected)
                other.isSelected = true
            }
        }
    }

    @Test("frozen lists make every object anew, on several threads") func frozenLists() async throws {
        let file = TemporaryFile()
        nonisolated(unsafe) let frozen = try realm(file).freeze()  // a frozen Realm is read by any thread
        let wanted = (0..<rows).map { id in (0..<(id % 6)).map { (id + 7 * $0) % rows } }
        let made = objects { for team in frozen.objects(Team.self) { for member in team.members { _ = member.id } } }
        #expect(made == wanted.flatMap { $0 }.count)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<20).allSatisfy { _ in
                        frozen.objects(Team.self).map { $0.members.map(\.id) } == wanted
                            && frozen.objects(Team.self).map(\.members.count) == wanted.map(\.count)
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    // MARK: Iterators

    @Test("copies of an iterator over a list go on from the same row, and an ended one stays at its end")
    func copiedIterators() throws {
        let realm = try realm()
        let team = try #require(realm.object(ofType: Team.self, forPrimaryKey: 5))
        let other = try #require(realm.object(ofType: Team.self, forPrimaryKey: 4))
        let ids = team.members.map(\.id)
        var one = team.members.makeIterator()
        let first = one.next()
        var two = one
        let (second, same) = (two.next(), one.next())
        #expect(first?.id == ids[0] && second?.id == ids[1] && same?.id == ids[1] && second !== same)
        while one.next() != nil {}
        #expect(one.next() == nil && other.members.map(\.id) == (0..<4).map { (4 + 7 * $0) % rows })
        #expect([two.next()?.id, two.next()?.id, two.next()?.id] == [ids[2], ids[3], ids[4]])
        #expect(two.next() == nil && two.next() == nil && one.next() == nil)
        #expect(first?.id == ids[0] && second?.id == ids[1])
        var (a, b) = (team.members.makeIterator(), other.members.makeIterator())
        for place in 0..<4 { #expect(a.next()?.id == ids[place] && b.next()?.id == (4 + 7 * place) % rows) }
        #expect(b.next() == nil && a.next()?.id == ids[4] && a.next() == nil)
    }

    @Test("no iteration keeps a Realm, whether it ended, was left, or has kept its object")
    func noRealmIsKept() throws {
        weak var instance: RealmInstance?
        weak var kept: Member?
        for way in 0..<5 {
            try autoreleasing {
                var opened: Realm? = try realm()
                instance = opened?.instance
                var team = opened?.object(ofType: Team.self, forPrimaryKey: 5)
                var last: Member?
                switch way {
                case 0: for member in try #require(team).members { _ = member.id }
                case 1: for member in try #require(team).members where member.id > 5 { break }
                case 2: for member in try #require(team).members { last = member }
                case 3:
                    var iterator = try #require(team).members.makeIterator()
                    (team, opened) = (nil, nil)
                    #expect(iterator.next()?.id == 5)
                    while let member = iterator.next() { #expect(member.number == 3 * member.id) }
                default:
                    let list = try #require(team).members
                    for member in list { _ = member.id }
                    (team, opened) = (nil, nil)
                    for member in list { #expect(member.number == 3 * member.id) }
                }
                kept = last
                #expect(kept?.number == last?.number)
            }
            #expect(instance == nil && kept == nil, "way \(way)")
        }
    }

    private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }
}

/// The expected number of each member, and the expected members of each team.
private struct TeamModel {
    var numbers: [Int: Int] = [:]
    var members: [[Int]] = []
    var circles: [Set<Int>] = []

    func check(_ realm: Realm, _ what: String) {
        for (id, team) in realm.objects(Team.self).enumerated() {
            var (found, circle): ([Int], [Int]) = ([], [])
            for member in team.members {
                #expect(member.number == numbers[member.id], "\(what)")
                found.append(member.id)
            }
            for member in team.circle { circle.append(member.id) }
            #expect(found == members[id] && team.members.count == found.count, "\(what), team \(id)")
            #expect(Set(circle) == circles[id] && circle.count == circles[id].count, "\(what), circle \(id)")
            #expect(team.circle.count == circle.count, "\(what)")
        }
        for member in realm.objects(Member.self) {
            var (found, circle): ([Int], [Int]) = ([], [])
            for team in member.teams { found.append(team.id) }
            for team in member.circles { circle.append(team.id) }
            let teams = members.indices.flatMap { team in members[team].filter { $0 == member.id }.map { _ in team } }
            #expect(found == teams, "\(what), member \(member.id)")
            #expect(circle == circles.indices.filter { circles[$0].contains(member.id) }, "\(what)")
        }
    }
}

/// Makes the same random changes to a Realm and to the model.
private struct Script {
    let realm: Realm
    let rows: Int
    var dice: Dice
    var model = TeamModel()
    var kept: [(Member, Int)] = []

    init(_ realm: Realm, _ rows: Int, _ seed: UInt64) {
        (self.realm, self.rows) = (realm, rows)
        dice = Dice(state: seed)
        for id in 0..<rows {
            model.numbers[id] = 3 * id
            model.members.append((0..<(id % 6)).map { (id + 7 * $0) % rows })
            model.circles.append(Set(model.members[id]))
        }
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &dice) }

    private func member(_ id: Int) -> Member? { realm.object(ofType: Member.self, forPrimaryKey: id) }

    mutating func change(_ round: Int, _ step: Int) throws {
        let id = below(rows)
        let other = below(rows)
        let team = try #require(realm.object(ofType: Team.self, forPrimaryKey: id))
        switch below(7) {
        case 0:
            // One append in eight makes the list so long that storage keeps it in a tree.
            let ids = (0..<(below(8) == 0 ? 900 : below(5))).map { _ in below(rows) }
            let members = ids.compactMap { member($0) }
            team.members.append(objectsIn: members)
            model.members[id] += members.map(\.id)
        case 1 where !model.members[id].isEmpty:
            let place = below(model.members[id].count)
            team.members.remove(at: place)
            model.members[id].remove(at: place)
        case 2:
            guard let object = member(other) else { return }
            team.circle.insert(object)
            model.circles[id].insert(other)
        case 3:
            guard let object = member(other) else { return }
            realm.delete(object)
            model.numbers[other] = nil
            for team in model.members.indices {
                model.members[team].removeAll { $0 == other }
                model.circles[team].remove(other)
            }
        case 4:
            realm.create(Member.self, value: ["id": other, "number": round], update: .modified)
            model.numbers[other] = round
        case 5:
            team.members.removeAll()
            model.members[id] = []
        default:
            for member in team.members {
                member.number = step
                model.numbers[member.id] = step
                if below(4) == 0 { kept.append((member, member.id)) }
            }
        }
    }
}
