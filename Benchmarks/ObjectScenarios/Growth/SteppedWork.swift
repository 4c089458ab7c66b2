import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Work whose steps are counted: operations that users found to be quadratic, in this engine or in similar ones.
enum SteppedWork: String, CaseIterable {
    /// An IN with a value for every fourth row, over unindexed text, doubles and mixed values.
    case inValues = "in-values"
    /// Insertions into an unmanaged set, lookups and removals.
    case unmanagedSet = "unmanaged-set"
    /// An observer for each object.
    case observers
    /// The section of each key.
    case sectionOfKey = "section-of-key"
    /// A loop in a write that gets the next element of a list and changes it.
    case listLoop = "list-loop"
    /// Commits of one object, with unique keys that share a long prefix.
    case uniqueKey = "unique-key"
    /// The number of objects of a frozen class.
    case frozenCount = "frozen-count"
    /// Commits of one object with an observer of sections.
    case sectionCommits = "section-commits"

    static let classes: [ObjectBase.Type] = [StepItem.self, StepList.self, StepAccount.self]

    /// The power of the size that the steps of the whole work need, without logarithms.
    var neededExponent: Double {
        switch self {
        case .inValues, .unmanagedSet, .observers, .sectionOfKey, .listLoop, .uniqueKey, .sectionCommits: 1
        case .frozenCount: 0
        }
    }

    func run(_ shelf: SteppedShelf) throws {
        switch self {
        case .inValues: try Self.askForValues(shelf)
        case .unmanagedSet: Self.fillSet(shelf)
        case .observers: try Self.observe(shelf)
        case .sectionOfKey: try Self.findSections(shelf)
        case .listLoop: try Self.drainList(shelf)
        case .uniqueKey: try Self.addAccounts(shelf)
        case .frozenCount: try Self.countFrozen(shelf)
        case .sectionCommits: try Self.commitBesideSections(shelf)
        }
    }

    // MARK: Queries

    private static func askForValues(_ shelf: SteppedShelf) throws {
        try fill(shelf)
        let wanted = stride(from: 0, to: shelf.count, by: 4)
        let items = shelf.realm.objects(StepItem.self)
        func ask(_ what: String, _ values: [Any]) {
            let found = shelf.counting { Array(items.filter("\(what) IN %@", values).map(\.number)) }
            shelf.check("objects whose \(what) is one of many", expected: Array(wanted), got: found)
        }
        ask("text", wanted.map { StepItem.text($0) })
        ask("weight", wanted.map { Double($0) })
        ask("any", wanted.map { AnyRealmValue.int($0) })
    }

    private static func drainList(_ shelf: SteppedShelf) throws {
        try fill(shelf)
        try shelf.realm.write {
            let list = shelf.realm.create(StepList.self)
            list.items.append(objectsIn: shelf.realm.objects(StepItem.self))
            let waiting = list.items.filter("isDone == false")
            var order: [Int] = []
            shelf.counting {
                while let next = waiting.first, order.count <= shelf.count {
                    order.append(next.number)
                    next.isDone = true
                }
            }
            shelf.check("elements as they were asked for", expected: Array(0..<shelf.count), got: order)
        }
    }

    private static func countFrozen(_ shelf: SteppedShelf) throws {
        try fill(shelf)
        let frozen = shelf.realm.freeze()
        let count = shelf.counting { frozen.objects(StepItem.self).count }
        shelf.check("objects of a frozen class", expected: shelf.count, got: count)
    }

    // MARK: Collections

    private static func fillSet(_ shelf: SteppedShelf) {
        let set = MutableSet<String>()
        shelf.counting {
            for number in 0..<shelf.count { set.insert(StepItem.text(number)) }
            for number in 0..<shelf.count { set.insert(StepItem.text(number)) }
        }
        shelf.check("members", expected: shelf.count, got: set.count)
        let missing = shelf.counting { (0..<shelf.count).first { !set.contains(StepItem.text($0)) } }
        shelf.check("a member that is missing", expected: nil, got: missing)
        shelf.counting { for number in stride(from: 0, to: shelf.count, by: 2) { set.remove(StepItem.text(number)) } }
        shelf.check("members left", expected: shelf.count / 2, got: set.count)
    }

    private static func findSections(_ shelf: SteppedShelf) throws {
        try fill(shelf)
        let sections = shelf.realm.objects(StepItem.self).sectioned(by: { $0.text }, sortDescriptors: ["number"])
        let wrong = shelf.counting {
            (0..<shelf.count).first { sections.section(for: StepItem.text($0))?.first?.number != $0 }
        }
        shelf.check("a key with another section", expected: nil, got: wrong)
        let gone = shelf.counting { sections.section(for: "none")?.key }
        shelf.check("the section of a key that is not there", expected: nil, got: gone)
    }

    // MARK: Commits and observers

    private static func observe(_ shelf: SteppedShelf) throws {
        try fill(shelf)
        var told: [Int] = []
        let items = Array(shelf.realm.objects(StepItem.self))
        let tokens = shelf.counting {
            items.map { item in item.observe { _ in told.append(item.number) } }
        }
        defer { for token in tokens { token.invalidate() } }
        try shelf.realm.write { items[shelf.count / 2].isDone = true }
        shelf.check("observers that were told", expected: [shelf.count / 2], got: told)
    }

    private static func addAccounts(_ shelf: SteppedShelf) throws {
        for number in 0..<shelf.count {
            try shelf.counting {
                try shelf.realm.write {
                    shelf.realm.create(StepAccount.self, value: ["kind": "mail", "address": StepItem.text(number)])
                }
            }
        }
        shelf.check("accounts", expected: shelf.count, got: shelf.realm.objects(StepAccount.self).count)
        var refusal: Realm.Error.Code?
        do {
            try shelf.realm.write {
                shelf.realm.create(
                    StepAccount.self, value: ["kind": "mail", "address": StepItem.text(shelf.count / 2)])
            }
        } catch let error as Realm.Error {
            refusal = error.code
        }
        shelf.check("the answer to an account that is there", expected: .duplicateKey, got: refusal)
    }

    private static func commitBesideSections(_ shelf: SteppedShelf) throws {
        try fill(shelf)
        // Each section has eight members at every size.
        var asked = 0
        let sections = shelf.realm.objects(StepItem.self).sectioned(
            by: {
                asked += 1
                return $0.number / 8
            }, sortDescriptors: ["number"])
        var changed: [IndexPath] = []
        let token = sections.observe { change in
            if case .update(_, _, _, let modifications, _, _) = change { changed += modifications }
        }
        defer { token.invalidate() }
        var expected: [IndexPath] = []
        asked = 0
        for round in 0..<8 {
            let number = (round * shelf.count / 8 + round) % shelf.count
            expected.append([number / 8, number % 8])
            guard let item = shelf.realm.object(ofType: StepItem.self, forPrimaryKey: number) else { continue }
            try shelf.counting { try shelf.realm.write { item.isDone = true } }
        }
        shelf.check("places that observers of sections were told of", expected: expected, got: changed)
        // The engine still passes over the keys of all rows; the application's closure is called only for changes.
        shelf.check(
            "section keys that were asked for", expected: "at most 16", got: asked <= 16 ? "at most 16" : "\(asked)")
    }

    private static func fill(_ shelf: SteppedShelf) throws {
        try shelf.realm.write {
            for number in 0..<shelf.count {
                let item = StepItem()
                item.number = number
                item.text = StepItem.text(number)
                item.weight = Double(number)
                item.any = .int(number)
                shelf.realm.add(item)
            }
        }
    }
}

final class StepItem: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var text: String
    @Persisted var weight: Double
    @Persisted var any: AnyRealmValue
    @Persisted var isDone: Bool

    static func text(_ number: Int) -> String { "item \(number)" }
}

final class StepList: Object {
    @Persisted var items: List<StepItem>
}

final class StepAccount: Object {
    @Persisted var kind: String
    @Persisted var address: String
    override class func uniqueKeys() -> [[String]] { [["kind", "address"]] }
}
