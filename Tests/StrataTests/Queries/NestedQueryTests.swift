import Foundation
import Strata
import Testing

/// Conditions on elements of lists and dictionaries in values of any type.
@Suite struct NestedQueryTests {
    final class Seed: Object { @Persisted var name = "" }
    final class Packet: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var content: AnyRealmValue
        @Persisted var all: List<AnyRealmValue>
        @Persisted var named: Map<String, AnyRealmValue>
        @Persisted var other: Packet?
    }

    private static func tree(_ number: Int) -> AnyRealmValue {
        .fromDictionary([
            "size": .int(number), "tags": .fromArray([.string("t\(number)"), .string("all")]),
            "deep": .fromArray([.fromArray([.int(10 * number)]), .fromDictionary(["x": .double(0.5)])]),
        ])
    }

    private func packets() throws -> Results<Packet> {
        let realm = try makeRealm([Packet.self, Seed.self])
        try realm.write {
            for id in 0..<4 {
                let packet = realm.create(Packet.self, value: ["id": id])
                packet.content =
                    id == 3 ? .fromArray([.int(7), .string("seven"), .fromArray([.int(8)])]) : Self.tree(id)
                packet.all.append(objectsIn: [Self.tree(id), .int(id)])
                packet.named["k"] = Self.tree(id)
                // Long enough to be a tree of its own.
                packet.named["long"] = .fromArray((0..<2000).map { .int($0 + id) })
                packet.other = realm.object(ofType: Packet.self, forPrimaryKey: id - 1)
            }
        }
        return realm.objects(Packet.self)
    }

    private func check(
        _ packets: Results<Packet>, _ format: String, _ ids: [Int],
        _ condition: (Query<Packet>) -> Query<Bool>
    ) throws {
        #expect(packets.where(condition).map(\.id) == ids, "\(format)")
        #expect(try packets.tryFilter(format).map(\.id) == ids, "\(format), as text")
        // Inside of a write, where collections are open.
        let realm = try #require(packets.realm)
        realm.beginWrite()
        for packet in packets { packet.named["long"]?.listValue?.append(.int(-1)) }
        #expect(packets.where(condition).map(\.id) == ids, "\(format), in a write")
        realm.cancelWrite()
        let loose = packets.map { $0.detached() }
        let copies = List(loose)
        let first = copies.index(matching: condition)
        #expect(first.map { copies[$0].id } == ids.first, "\(format), of objects that nothing manages")
    }

    @Test("indexes, keys and any element are queried, typed and as text")
    func typedAndAsText() throws {
        let packets = try packets()
        try check(packets, "content['size'] == 1", [1]) { $0.content["size"] == .int(1) }
        try check(packets, "content['size'] >= 1", [1, 2]) { $0.content["size"] >= .int(1) }
        try check(packets, "content[0] == 7", [3]) { $0.content[0] == .int(7) }
        try check(packets, "content[2][0] == 8", [3]) { $0.content[2][0] == .int(8) }
        try check(packets, "content['tags'][0] == 't2'", [2]) { $0.content["tags"][0] == .string("t2") }
        try check(packets, "content['deep'][1]['x'] < 1", [0, 1, 2]) { $0.content["deep"][1]["x"] < .int(1) }
        try check(packets, "ANY content['tags'][*] == 'all'", [0, 1, 2]) { $0.content["tags"].any == .string("all") }
        try check(packets, "ANY content[*][*] == 't1'", [1]) { $0.content.any.any == .string("t1") }
        try check(packets, "ANY content[*] == 'seven'", [3]) { $0.content.any == .string("seven") }
        try check(packets, "named['k']['deep'][0][0] == 20", [2]) { $0.named["k"]["deep"][0][0] == .int(20) }
        try check(packets, "named['long'][1999] == 2001", [2]) { $0.named["long"][1999] == .int(2001) }
        try check(packets, "other.content['size'] == 1", [2]) { $0.other.content["size"] == .int(1) }
    }

    @Test("a missing element is null, and a list or a dictionary equals no value")
    func missingElement() throws {
        let packets = try packets()
        try check(packets, "content['none'] == nil", [0, 1, 2, 3]) { $0.content["none"] == AnyRealmValue.none }
        try check(packets, "content[1] != nil", [3]) { $0.content[1] != AnyRealmValue.none }
        try check(packets, "content['size'] != 1", [0, 2, 3]) { $0.content["size"] != .int(1) }
        try check(packets, "content == nil", []) { $0.content == AnyRealmValue.none }
        try check(packets, "content['tags'] == 'all'", []) { $0.content["tags"] == .string("all") }
        try check(packets, "ANY all == 2", [2]) { $0.all == .int(2) }
        try check(packets, "ANY content[*] == 't1'", []) { $0.content.any == .string("t1") }
    }

    @Test("arguments can be keys and indexes, and a key is never parsed")
    func keyIsNeverParsed() throws {
        let packets = try packets()
        #expect(packets.filter("content[%@] == %@", "size", 2).map(\.id) == [2])
        #expect(packets.filter("content[%@] == %@", 0, AnyRealmValue.int(7)).map(\.id) == [3])
        #expect(packets.filter("ANY content[%K] == %@", "#any", "seven").map(\.id) == [3])
        #expect(packets.filter("content[%@] == %@", "#any", "seven").isEmpty)
        #expect(packets.where { $0.content["#any"] == .string("seven") }.isEmpty)
    }

    @Test("unsupported conditions are refused")
    func unsupportedConditions() throws {
        let packets = try packets()
        for format in [
            "id[0] == 1", "all[0] == 1", "named[0] == 1", "content.@allKeys == 'x'", "content['a'].b == 1",
        ] {
            let error = #expect(throws: Realm.Error.self, "\(format)") { try packets.tryFilter(format) }
            #expect(error?.code == .invalidInput)
        }
        for value in [AnyRealmValue.fromArray([.int(1)]), .fromDictionary([:])] {
            let error = #expect(throws: Realm.Error.self) { try packets.tryFilter("content == %@", value) }
            #expect(error?.message.contains("list or a dictionary") == true)
        }
    }

    @Test("results follow changes of nested elements")
    func followedElements() throws {
        let packets = try packets()
        let realm = try #require(packets.realm)
        let large = packets.where { $0.content["tags"].any == .string("new") }
        #expect(large.isEmpty)
        let tags = try #require(packets[1].content.dictionaryValue?["tags"]?.listValue)
        try realm.write { tags.append(.string("new")) }
        #expect(large.map(\.id) == [1])
        try realm.write {
            #expect(large.count == 1)
            tags.removeLast()
            #expect(large.isEmpty)
        }
    }
}
