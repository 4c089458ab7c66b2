import Foundation
import Strata
import Testing

/// Enumerations and their raw values in typed conditions.
@Suite struct EnumQueryTests {
    enum Size: Int, PersistableEnum { case small = 1, middle = 5, large = 9 }
    enum Color: String, PersistableEnum { case red, green, blue }
    final class Shirt: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var size = Size.small
        @Persisted var maybe: Size?
        @Persisted var color = Color.red
        @Persisted var lining: Color?
        @Persisted var sizes: List<Size>
        @Persisted var maybes: List<Size?>
        @Persisted var colors: MutableSet<Color>
        @Persisted var stock: Map<String, Size>
        @Persisted var marks: Map<String, Color?>
    }

    private func shirts() throws -> Results<Shirt> {
        let realm = try makeRealm([Shirt.self])
        try realm.write {
            for (id, size) in Size.allCases.enumerated() {
                let shirt = Shirt()
                shirt.id = id
                shirt.size = size
                shirt.maybe = id == 0 ? nil : size
                shirt.color = Color.allCases[id]
                shirt.lining = id == 1 ? nil : .blue
                shirt.sizes.append(objectsIn: Size.allCases.prefix(id + 1))
                shirt.maybes.append(objectsIn: [nil, size])
                shirt.colors.insert(Color.allCases[id])
                shirt.stock["x"] = size
                shirt.marks["y"] = .some(Color.allCases[id])
                realm.add(shirt)
            }
        }
        return realm.objects(Shirt.self)
    }

    private func ids(_ results: Results<Shirt>) -> [Int] { results.map(\.id) }

    @Test("cases are compared and ordered by their raw values")
    func comparedByRawValues() throws {
        let shirts = try shirts()
        #expect(ids(shirts.where { $0.size == .middle }) == [1])
        #expect(ids(shirts.where { $0.size >= .middle }) == [1, 2])
        #expect(ids(shirts.where { $0.size.contains(.small ..< .large) }) == [0, 1])
        #expect(ids(shirts.where { $0.maybe.contains(.small ... .middle) }) == [1])
        #expect(ids(shirts.where { $0.maybe != nil && $0.maybe < .large }) == [1])
        #expect(ids(shirts.where { $0.color.in([.red, .blue]) }) == [0, 2])
        #expect(ids(shirts.where { $0.color == $0.lining }) == [2])
        #expect(shirts.min(of: \.size) == .small && shirts.max(of: \.color) == .red)
    }

    @Test("raw values support operations that cases do not")
    func rawValues() throws {
        let shirts = try shirts()
        #expect(ids(shirts.where { $0.size.rawValue > 4 }) == [1, 2])
        #expect(ids(shirts.where { $0.maybe.rawValue == 5 }) == [1])
        #expect(ids(shirts.where { $0.color.rawValue.contains("re") }) == [0, 1])
        #expect(ids(shirts.where { $0.lining.rawValue.starts(with: "BL", options: .caseInsensitive) }) == [0, 2])
        #expect(ids(shirts.where { $0.sizes.rawValue.contains(1...5) }) == [0, 1])
        #expect(ids(shirts.where { $0.sizes.rawValue.sum == 6 }) == [1])
        #expect(ids(shirts.where { $0.maybes.rawValue.max >= 5 }) == [1, 2])
        #expect(ids(shirts.where { $0.stock.rawValue.contains(2..<9) }) == [1])
        #expect(ids(shirts.where { $0.marks.rawValue.contains("green") }) == [1])
    }

    @Test("collections of cases are queried for cases")
    func collectionsOfCases() throws {
        let shirts = try shirts()
        #expect(ids(shirts.where { $0.sizes.contains(.large) }) == [2])
        #expect(ids(shirts.where { $0.sizes > .small }) == [1, 2])
        #expect(ids(shirts.where { $0.sizes.contains(.small ... .middle) }) == [0, 1])
        #expect(ids(shirts.where { $0.maybes.contains(nil) }) == [0, 1, 2])
        #expect(ids(shirts.where { $0.maybes.contains(.middle ... .large) }) == [1, 2])
        #expect(ids(shirts.where { $0.colors.containsAny(in: [.green]) }) == [1])
        #expect(ids(shirts.where { $0.stock["x"] == .large }) == [2])
        #expect(ids(shirts.where { $0.stock.values <= .middle }) == [0, 1])
        #expect(ids(shirts.where { $0.marks.values == .blue }) == [2])
        #expect(ids(shirts.where { $0.sizes.min == .small && $0.sizes.max == .middle }) == [1])
    }
}
