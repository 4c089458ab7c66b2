import Foundation
import Strata
import Testing

/// A path with an operator once crashed the process.
@Suite struct NamedOperatorTests {
    enum Level: Int, PersistableEnum { case low = 1, high = 9 }

    final class Shop: Object {
        @Persisted var name = ""
        @Persisted var size = 0
        @Persisted var share: Float = 0
        @Persisted var worth: Decimal128 = 0
        @Persisted var opened: Date?
        @Persisted var level = Level.low
        @Persisted var rank: Int?
        @Persisted var any: AnyRealmValue
        @Persisted var owner: Shop?
        @Persisted var branches: List<Shop>
        @Persisted var marks: List<Int>
        @Persisted var tags: MutableSet<String>
        @Persisted var group: MutableSet<Shop>
        @Persisted var prices: Map<String, Int>
        @Persisted var kin: Map<String, Shop?>
    }

    private static func shop() -> Shop {
        let shop = Shop(value: ["name": "main", "size": 100])
        let day = Date(timeIntervalSinceReferenceDate: 0)
        let rows: [(String, Int, Float, Decimal128, Int?)] = [
            ("a", 2, 0.5, 1.5, nil), ("b", 3, 1.5, 2, 4), ("a", 4, 1, 3, 4),
        ]
        for (place, (name, size, share, worth, rank)) in rows.enumerated() {
            let branch = Shop()
            (branch.name, branch.size, branch.share, branch.worth, branch.rank) = (name, size, share, worth, rank)
            branch.opened = place == 0 ? nil : day + Double(place)
            branch.level = place == 1 ? .high : .low
            branch.any = .int(place)
            branch.owner = place == 0 ? nil : shop
            branch.marks.append(objectsIn: 0..<place)
            branch.tags.insert(objectsIn: ["x", "\(place)"])
            shop.branches.append(branch)
        }
        shop.group.insert(objectsIn: shop.branches)
        shop.marks.append(objectsIn: [3, 1, 3])
        shop.tags.insert(objectsIn: ["p", "q"])
        shop.prices["u"] = 5
        shop.prices["v"] = 6
        shop.kin["k"] = shop.branches[1]
        return shop
    }

    /// The same shop unmanaged and managed.
    private func shops() throws -> [(Realm?, Shop)] {
        let realm = try makeRealm([Shop.self])
        let managed = Self.shop()
        try realm.write { realm.add(managed) }
        return [(nil, Self.shop()), (realm, managed)]
    }

    @Test("operators aggregate a property over all elements")
    func aggregatedProperty() throws {
        for (_, shop) in try shops() {
            let branches = shop.branches
            #expect(branches.value(forKeyPath: "@count") as? Int == 3 && branches.value(forKey: "@count") as? Int == 3)
            #expect(branches.value(forKeyPath: "@sum.size") as? Int == 9)
            #expect(branches.value(forKeyPath: "@avg.size") as? Double == 3)
            #expect(branches.value(forKeyPath: "@min.size") as? Int == 2)
            #expect(branches.value(forKeyPath: "@max.share") as? Float == 1.5)
            #expect(branches.value(forKeyPath: "@sum.share") as? Double == 3)
            #expect(branches.value(forKeyPath: "@sum.worth") as? Decimal128 == 6.5)
            #expect(branches.value(forKeyPath: "@max.opened") as? Date == Date(timeIntervalSinceReferenceDate: 2))
            #expect(branches.value(forKeyPath: "@sum.rank") as? Int == 8)
            #expect(branches.value(forKeyPath: "@avg.any") as? Double == 1)
            #expect(branches.value(forKeyPath: "@max.level") as? Level == .high)
            #expect(branches.value(forKeyPath: "@max.owner.size") as? Int == 100)
            #expect(branches.value(forKeyPath: "@sum.marks.@count") as? Int == 3)
            #expect(shop.value(forKeyPath: "branches.@sum.size") as? Int == 9)
            #expect(shop.value(forKeyPath: "marks.@sum.self") as? Int == 7)
            #expect(shop.marks.value(forKeyPath: "@max.self") as? Int == 3)
            #expect(shop.prices.value(forKeyPath: "@sum.self") as? Int == 11)
            #expect(shop.kin.value(forKeyPath: "k.name") as? String == "b")
            #expect(shop.prices.value(forKey: "@count") as? Int == 2)
            #expect(shop.prices.value(forKeyPath: "@allKeys") as? [String] == ["u", "v"])
        }
    }

    @Test("without elements a sum is 0, a mean and an extreme are nil")
    func withoutElements() {
        let none = List<Shop>()
        #expect(none.value(forKeyPath: "@count") as? Int == 0 && none.value(forKeyPath: "@sum.size") as? Int == 0)
        for path in ["@avg.size", "@min.size", "@max.name"] { #expect(none.value(forKeyPath: path) == nil) }
        #expect((none.value(forKeyPath: "@unionOfObjects.name") as? [Any?])?.isEmpty == true)
    }

    @Test("operators join the elements' collections")
    func joinedCollections() throws {
        for (_, shop) in try shops() {
            let branches = shop.branches
            #expect(branches.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["a", "b", "a"])
            #expect(branches.value(forKeyPath: "@distinctUnionOfObjects.name") as? [String] == ["a", "b"])
            #expect(branches.value(forKeyPath: "@distinctUnionOfObjects.rank") as? [Int?] == [nil, 4])
            #expect(branches.value(forKeyPath: "@unionOfObjects.self") as? [Shop] == Array(branches))
            #expect(branches.value(forKeyPath: "@unionOfArrays.marks") as? [Int] == [0, 0, 1])
            #expect(branches.value(forKeyPath: "@distinctUnionOfArrays.marks") as? [Int] == [0, 1])
            #expect(branches.value(forKeyPath: "@distinctUnionOfSets.tags") as? Set<String> == ["x", "0", "1", "2"])
            #expect(shop.marks.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Int] == [3, 1])
            #expect(branches.value(forKeyPath: "owner.@count") as? Int == 3)
        }
    }

    @Test("a set gives sets, and self denotes the values themselves")
    func setsAndSelf() throws {
        for (_, shop) in try shops() {
            #expect(shop.group.value(forKey: "name") as? Set<String> == ["a", "b"])
            #expect(shop.group.value(forKey: "self") as? Set<Shop> == Set(shop.branches))
            #expect((shop.group.value(forKey: "rank") as? Set<AnyHashable>)?.count == 2)
            #expect(shop.tags.value(forKey: "self") as? Set<String> == ["p", "q"])
            #expect(shop.marks.value(forKey: "self") as? [Int] == [3, 1, 3])
            #expect((shop.branches.value(forKey: "tags") as? [MutableSet<String>])?.map(\.count) == [2, 2, 2])
        }
    }

    @Test("values of lists and sets are set by self")
    func setBySelf() throws {
        for (realm, shop) in try shops() {
            realm?.beginWrite()
            shop.marks.setValue(8, forKey: "self")
            shop.tags.setValue("t", forKey: "self")
            shop.setValue("n", forKeyPath: "branches.name")
            try realm?.commitWrite()
            #expect(Array(shop.marks) == [8, 8, 8] && Array(shop.tags) == ["t"])
            #expect(shop.branches.map(\.name) == ["n", "n", "n"])
        }
    }

    private static let wrong = [
        ("@median.size", "there is no operator '@median'"), ("@sum", "'@sum' needs the name of a property behind it"),
        ("@sum.name", "'@sum' cannot be made of a value of the type String"),
        ("@avg.opened", "'@avg' cannot be made of a value of the type Date"),
        ("@unionOfArrays.name", "'@unionOfArrays' joins collections"), ("@max.branches", "'@max' cannot be made of"),
        ("name.@count", ""), ("name.length", "a value of the type String has no property 'length'"),
    ]

    @Test("an unknown operator or name is reported, and fails a write")
    func unknownOperator() throws {
        let told = Locked<[String]>([])
        let realm = try makeRealm([Shop.self], handler: { report in told.with { $0.append(report.message) } })
        let shop = Self.shop()
        try realm.write { realm.add(shop) }
        for (path, reason) in Self.wrong where !reason.isEmpty {
            told.with { $0 = [] }
            _ = shop.branches.value(forKeyPath: path)
            #expect(told.with { $0.first }?.contains(reason) == true, "\(path): \(told.with { $0 })")
            let error = #expect(throws: Realm.Error.self) {
                try realm.write { _ = shop.branches.value(forKeyPath: path) }
            }
            #expect(error?.code == .invalidInput && error?.message.contains(reason) == true, "\(path)")
        }
        told.with { $0 = [] }
        _ = (
            shop.marks.value(forKey: "length"), shop.value(forKeyPath: "name.@count"), shop.prices.value(forKey: "@no")
        )
        #expect(told.with { $0.count } == shop.marks.count + 2)
        let error = #expect(throws: Realm.Error.self) { try realm.write { shop.marks.setValue("x", forKey: "self") } }
        #expect(error?.message.contains("a collection of Int holds no String") == true)
    }

    @Test("on an unmanaged collection it ends the program with the reason")
    func unmanagedEndsTheProgram() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = List([1]).value(forKeyPath: "@median.self")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("there is no operator '@median'; there are @avg, @count"))
    }
}
