import Foundation
import Strata
import Testing

/// Conditions on values of any type.
@Suite struct AnyValueQueryTests {
    final class Cat: Object { @Persisted(primaryKey: true) var id = 0 }
    final class Dog: Object { @Persisted(primaryKey: true) var id = 0 }
    final class Box: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var content: AnyRealmValue
        @Persisted var number = 3
        @Persisted var day = Date(timeIntervalSinceReferenceDate: 3)
        @Persisted var things: List<AnyRealmValue>
        @Persisted var kinds: MutableSet<AnyRealmValue>
        @Persisted var named: Map<String, AnyRealmValue>
    }

    private let id = UUID(uuidString: "00000000-0000-0000-0000-00000000000A") ?? UUID()
    private var bytes: Data { withUnsafeBytes(of: id.uuid) { Data($0) } }

    /// One value of each type, and pairs with equal stored forms.
    private func values(_ realm: Realm) throws -> [AnyRealmValue] {
        let cat = realm.create(Cat.self, value: [1])
        let dog = realm.create(Dog.self, value: [1])
        return [
            .none, .int(1), .bool(true), .bool(false), .float(2.5), .double(3.25), .string("one"), .data(bytes),
            .uuid(id), .date(Date(timeIntervalSinceReferenceDate: 7)), .double(7), .decimal128("8.5"),
            .objectId(try ObjectId(string: "0123456789abcdef01234567")), .object(cat), .object(dog),
        ]
    }

    private func boxes() throws -> (Results<Box>, [AnyRealmValue]) {
        let realm = try makeRealm([Cat.self, Dog.self, Box.self])
        let values = try realm.write {
            let values = try self.values(realm)
            for (place, value) in values.enumerated() {
                let box = realm.create(Box.self, value: ["id": place])
                box.content = value
                box.things.append(value)
                box.kinds.insert(value)
                box.named["it"] = value
            }
            return values
        }
        return (realm.objects(Box.self), values)
    }

    @Test("each value is found exactly where it is, by typed and textual queries")
    func foundWhereItIs() throws {
        let (boxes, values) = try boxes()
        for (place, value) in values.enumerated() {
            let expected = [place]
            let comment: Comment = "\(value)"
            #expect(boxes.where { $0.content == value }.map(\.id) == expected, comment)
            #expect(boxes.where { $0.content != value }.count == values.count - 1, comment)
            #expect(boxes.where { $0.content.in([value]) }.map(\.id) == expected, comment)
            #expect(boxes.filter("content == %@", value).map(\.id) == expected, comment)
            #expect(boxes.where { $0.things.contains(value) }.map(\.id) == expected, comment)
            #expect(boxes.where { $0.things == value }.map(\.id) == expected, comment)
            #expect(boxes.where { $0.kinds.containsAny(in: [value]) }.map(\.id) == expected, comment)
            #expect(boxes.where { $0.named.contains(value) }.map(\.id) == expected, comment)
            #expect(boxes.where { $0.named["it"] == value }.map(\.id) == expected, comment)
            #expect(boxes.where { $0.named.values == value }.map(\.id) == expected, comment)
        }
        #expect(boxes.where { $0.content == .int(123) }.isEmpty)
        #expect(boxes.filter("content == TRUE").map(\.id) == [2])
        #expect(boxes.filter("content == 1").map(\.id) == [1])
        #expect(boxes.where { $0.content == nil }.map(\.id) == [0])
    }

    @Test("numbers compare with numbers of every type, other values with their own")
    func comparedNumbers() throws {
        let (boxes, _) = try boxes()
        #expect(boxes.where { $0.content == .double(1) }.map(\.id) == [1])
        #expect(boxes.where { $0.content > .int(2) }.map(\.id) == [4, 5, 10, 11])
        #expect(boxes.where { $0.content <= .decimal128("3.25") }.map(\.id) == [1, 4, 5])
        #expect(boxes.where { $0.content >= .date(Date(timeIntervalSinceReferenceDate: -1)) }.map(\.id) == [9])
        #expect(boxes.where { $0.content < .date(Date(timeIntervalSinceReferenceDate: 8)) }.map(\.id) == [9])
        #expect(boxes.where { $0.content < .bool(true) }.map(\.id) == [3])
        #expect(boxes.where { $0.content >= .string("on") }.map(\.id) == [6])
        #expect(boxes.filter("content CONTAINS 'n'").map(\.id) == [6])
        #expect(boxes.filter("content BEGINSWITH %@", bytes.prefix(3)).map(\.id) == [7])
        #expect(boxes.filter("content BETWEEN {2, 4}").map(\.id) == [4, 5])
    }

    @Test("aggregates of collections of any type take the numbers")
    func aggregatedNumbers() throws {
        let (boxes, _) = try boxes()
        let realm = try #require(boxes.realm)
        try realm.write {
            boxes[0].things.append(objectsIn: [.int(2), .double(4.5), .string("x"), .bool(true)])
            boxes[0].named["more"] = .int(9)
        }
        #expect(boxes.where { $0.things.sum == .double(6.5) }.map(\.id) == [0])
        #expect(boxes.where { $0.things.avg == .double(3.25) }.map(\.id) == [0, 5])
        #expect(boxes.where { $0.named.max == .int(9) }.map(\.id) == [0])
        #expect(boxes.where { $0.things.count == 5 }.map(\.id) == [0])
    }

    @Test("a property can be compared with one of any type, or is refused")
    func comparedProperties() throws {
        let (boxes, _) = try boxes()
        try boxes.realm?.write { boxes[0].content = .int(3) }
        #expect(boxes.filter("content == number").map(\.id) == [0])
        let error = #expect(throws: Realm.Error.self) { try boxes.tryFilter("content == day") }
        #expect(error?.code == .invalidInput)
    }

    @Test("an object with a deleted one's key is another object")
    func newObjectWithDeletedKey() throws {
        let (boxes, values) = try boxes()
        guard case .object(let cat)? = values.dropLast().last else { return }
        let realm = try #require(boxes.realm)
        try realm.write { realm.delete(cat) }
        let next = try realm.write { realm.create(Cat.self, value: [1]) }
        #expect(boxes.where { $0.content == .object(next) }.isEmpty)
        #expect(boxes.sorted(byKeyPath: "content").count == 15)
        try realm.write {
            for (box, key) in [(0, 3), (1, -5)] {
                boxes[box].content = .object(realm.create(Cat.self, value: [key]))
                boxes[box].number = 77
            }
        }
        #expect(boxes.where { $0.number == 77 }.sorted(byKeyPath: "content").map(\.id) == [1, 0])
    }
}
