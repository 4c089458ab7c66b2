import Foundation
import Measuring
import Seeds
import Testing

@testable import Strata

private final class Score: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var number = 0
    @Persisted var name = ""

    convenience init(_ id: Int, _ number: Int) {
        self.init()
        (self.id, self.number, name) = (id, number, "n\(number % 3)")
    }
}

/// Follows results by their change sets, and compares them with a query that no observer helps.
private final class Mirror {
    let results: Results<Score>
    private(set) var ids: [Int] = []
    private var numbers: [Int] = []
    /// Whether modifications are those of numbers alone.
    private let watchesNumbers: Bool
    private(set) var failures: [String] = []
    private(set) var updates = 0
    var token: NotificationToken?
    private let fresh: () -> Results<Score>

    init(_ make: @escaping () -> Results<Score>, _ keyPaths: [String]?) {
        results = make()
        fresh = make
        watchesNumbers = keyPaths == ["number"]
        token = results.observe(keyPaths: keyPaths) { [unowned self] change in
            switch change {
            case .initial(let now):
                ids = now.map(\.id)
                numbers = now.map(\.number)
            case .update(let now, let deletions, let insertions, let modifications):
                updates += 1
                apply(now, deletions, insertions, modifications)
            case .error(let error): failures.append("\(error)")
            }
        }
    }

    private func apply(_ now: Results<Score>, _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
        let modified = Set(modifications.map { ids[$0] })
        let before = Dictionary(uniqueKeysWithValues: zip(ids, numbers))
        for place in deletions.reversed() { ids.remove(at: place) }
        let stayed = Set(ids)
        for place in insertions { ids.insert(place < now.count ? now[place].id : -1, at: min(place, ids.count)) }
        check("update")
        numbers = now.map(\.number)
        guard watchesNumbers else { return }
        for (id, number) in zip(ids, numbers) where stayed.contains(id) {
            if (before[id] != number) == modified.contains(id) { continue }
            failures.append("\(id): \(before[id] ?? -1) -> \(number), modified \(modified.contains(id))")
        }
    }

    func check(_ what: String) {
        let wanted = Array(fresh()).map(\.id)
        if ids != wanted { failures.append("\(what): \(ids) by changes, \(wanted) by the query") }
        if results.count != wanted.count { failures.append("\(what): counts \(results.count), not \(wanted.count)") }
        var walked: [Int] = []
        for score in results { walked.append(score.id) }
        if walked != wanted { failures.append("\(what): walks \(walked)") }
        for place in [0, wanted.count / 2, wanted.count - 1] where wanted.indices.contains(place) {
            let score = results[place]
            if score.id != wanted[place] { failures.append("\(what): \(score.id) at \(place)") }
            if results.index(of: score) != place { failures.append("\(what): index of \(score.id)") }
        }
    }
}

/// Observers of equal collections share their rows, and each of them is notified as if it were alone.
@Suite struct FollowedRowsTests {
    private let rows = 500

    private func realm() throws -> Realm {
        let realm = try makeRealm([Score.self])
        try realm.write { for id in 0..<rows { realm.add(Score(id, id * 7 % 100)) } }
        return realm
    }

    private func mirrors(_ realm: Realm) -> [Mirror] {
        let makers: [() -> Results<Score>] = [
            { realm.objects(Score.self).where { $0.number >= 50 } },
            { realm.objects(Score.self).filter("number >= 50") },
            { realm.objects(Score.self).where { $0.number < 30 } },
            { realm.objects(Score.self).where { $0.number >= 50 }.sorted(by: ["number", "id"]) },
            { realm.objects(Score.self).where { $0.number >= 50 }.sorted(by: ["name"]) },
            { realm.objects(Score.self).sorted(byKeyPath: "number", ascending: false) },
        ]
        let paths: [[String]?] = [nil, ["number"], ["name"], []]
        return makers.flatMap { make in
            paths.map { Mirror(make, $0) }
        }
    }

    private func check(_ mirrors: [Mirror], _ what: String) {
        for mirror in mirrors {
            mirror.check(what)
            #expect(mirror.failures == [], "\(what)")
        }
    }

    @Test(
        "each observer is told what leads to the collection, whatever others share with it",
        arguments: [5, 23] as [UInt64])
    func toldWhateverIsShared(seed: UInt64) throws {
        let realm = try realm()
        var dice = Dice(state: seed)
        var mirrors = mirrors(realm)
        for round in 0..<14 {
            // Observers come and go.
            if round % 5 == 3 { mirrors.removeAll { _ in Int.random(in: 0..<6, using: &dice) == 0 } }
            if round % 5 == 4 { mirrors += self.mirrors(realm) }
            try realm.write { for _ in 0..<(round == 6 ? 300 : 6) { Self.change(realm, &dice, rows) } }
            check(mirrors, "seed \(seed), round \(round)")
            guard round % 4 == 1 else { continue }
            // Some observers are not notified of a commit; new ones replace them.
            let silenced = mirrors.filter { _ in Bool.random(using: &dice) }
            mirrors.removeAll { mirror in silenced.contains { $0 === mirror } }
            try realm.write(withoutNotifying: silenced.compactMap(\.token)) { Self.change(realm, &dice, rows) }
            check(mirrors, "seed \(seed), round \(round), without \(silenced.count)")
            mirrors += self.mirrors(realm)
        }
    }

    private static func change(_ realm: Realm, _ dice: inout Dice, _ rows: Int) {
        let id = Int.random(in: 0..<(rows + 50), using: &dice)
        let number = Int.random(in: 0..<100, using: &dice)
        let found = realm.object(ofType: Score.self, forPrimaryKey: id)
        switch (Int.random(in: 0..<5, using: &dice), found) {
        case (0, let score?): realm.delete(score)
        case (1, let score?):
            // Deleted, and created again under its key.
            realm.delete(score)
            realm.add(Score(id, number))
        case (2, let score?): score.name = "m\(number % 4)"
        case (_, let score?): score.number = number
        case (_, nil): realm.add(Score(id, number))
        }
    }

    @Test("a silenced observer goes on from the version that it missed")
    func silencedGoesOn() throws {
        let realm = try realm()
        let high = realm.objects(Score.self).where { $0.number >= 50 }
        var told: [[[Int]]] = [[], [], []]
        let tokens = (0..<3).map { number in
            realm.objects(Score.self).where { $0.number >= 50 }.observe { change in
                guard case .update(_, let deletions, let insertions, let modifications) = change else { return }
                told[number] += [deletions, insertions, modifications]
            }
        }
        try realm.write(withoutNotifying: [tokens[1]]) {
            realm.delete(realm.objects(Score.self).where { $0.id < 20 })
        }
        #expect(told[0].count == 3 && told[1].isEmpty && told[2] == told[0])
        let place = high.count / 2
        try realm.write { high[place].name = "middle" }
        try realm.write { realm.delete(high[place]) }
        try realm.write { realm.add(Score(-5, 60)) }
        #expect(told[1] == [[], [], [place], [place], [], [], [], [0], []])
        #expect(told[0].suffix(9) == told[1][...] && told[2] == told[0])
        tokens.forEach { $0.invalidate() }
    }

    @Test("an observer that writes goes on when the others have")
    func writingObserverGoesOn() throws {
        let realm = try realm()
        let first = mirrors(realm)
        var isWriting = false
        let token = realm.objects(Score.self).where { $0.number >= 50 }.observe { change in
            guard case .update = change, !isWriting else { return }
            isWriting = true
            try? realm.write { realm.objects(Score.self)[3].number = 99 }
            isWriting = false
        }
        let second = mirrors(realm)
        try realm.write { realm.objects(Score.self)[5].number = 98 }
        try realm.write { realm.objects(Score.self)[8].number = 97 }
        check(first + second, "after writes in a notification")
        token.invalidate()
    }

    @Test("equal descriptions share their rows, others do not, and none keeps the source's keys")
    func equalDescriptionsShare() throws {
        let realm = try realm()
        // Returns an identifier: a second reference to the rows would force a copy at their next change.
        func rows(_ results: Results<Score>) throws -> ObjectIdentifier {
            ObjectIdentifier(try #require(FollowedRows.of(results.source)))
        }
        let all = realm.objects(Score.self)
        let high = all.where { $0.number >= 50 }
        let token = high.observe { _ in }
        let followed = ObjectIdentifier(try #require(high.source.follower.observer?.knownRows))
        #expect(try rows(all.where { $0.number >= 50 }) == followed)
        #expect(try rows(all.filter("number >= 50")) == followed)
        #expect(try rows(all.where { $0.number >= 51 }) != followed)
        #expect(try rows(all.where { $0.number >= 50 }.sorted(by: ["name"])) != followed)
        #expect(high.source.cache == nil && high.count == all.where { $0.number >= 50 }.count)
        try realm.write { all[0].number = 77 }
        #expect(
            high.source.follower.observer?.knownRows.map { ObjectIdentifier($0) } == followed
                && high.source.cache == nil)
        // In a write there is no version that others could share.
        try realm.write {
            let one = try #require(FollowedRows.of(all.where { $0.number < 9 }.source))
            all[1].number = 1
            let other = try #require(FollowedRows.of(all.where { $0.number < 9 }.source))
            #expect(one !== other && high.count == Array(high).count)
        }
        token.invalidate()
    }

    @Test("results use the rows of an observer that still observes them")
    func resultsUseObservedRows() throws {
        let realm = try realm()
        let high = realm.objects(Score.self).where { $0.number >= 50 }
        // A new observer may be allocated at the address of one that has ended.
        for round in 0..<20 {
            let token = high.observe { _ in }
            #expect(high.source.follower.observer?.knownRows?.count == 250, "observer \(round)")
            try realm.write { realm.objects(Score.self)[round].name = "r\(round)" }
            #expect(high.source.follower.observer?.knownRows?.count == 250, "observer \(round)")
            token.invalidate()
            #expect(high.source.follower.observer == nil && high.count == 250)
        }
        // After one of two observers has ended, the results use the rows of the other one.
        let (first, second) = (high.observe { _ in }, high.observe { _ in })
        second.invalidate()
        try realm.write { realm.objects(Score.self)[0].name = "x" }
        #expect(high.source.follower.observer?.knownRows?.count == 250 && high.source.cache == nil)
        first.invalidate()
    }

    @Test("one more observer of an equal collection costs the same, among ten and among a thousand")
    func oneMoreCostsTheSame() throws {
        let realm = try realm()
        let growth = try ProcessorTime.growth(from: 100, to: 800) { count in
            let tokens = (0..<count).map { _ in
                realm.objects(Score.self).where { $0.number >= 50 }.observe { _ in }
            }
            for step in 0..<5 { try realm.write { realm.objects(Score.self)[step].number += 1 } }
            tokens.forEach { $0.invalidate() }
        }
        #expect(growth < 3, "an observer among 800 costs \(growth) times what one among 100 does")
    }

    @Test("a commit under equal observers is worked out once, and reads what it changed alone")
    func workedOutOnce() throws {
        let realm = try makeRealm([Score.self])
        try realm.write { for id in 0..<5000 { realm.add(Score(id, id % 100)) } }
        func steps(_ observers: Int) throws -> UInt64 {
            let tokens = (0..<observers).map { _ in
                realm.objects(Score.self).where { $0.number >= 50 }.observe { _ in }
            }
            defer { tokens.forEach { $0.invalidate() } }
            let before = WorkSteps.taken
            for step in 0..<10 { try realm.write { realm.objects(Score.self)[3 * step].number = 99 - step % 2 * 60 } }
            return WorkSteps.taken - before
        }
        let (one, hundred) = (try steps(1), try steps(100))
        #expect(hundred < one + 5000, "\(one) steps with one observer, \(hundred) with 100")
    }
}
