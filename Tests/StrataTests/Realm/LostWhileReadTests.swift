import Foundation
import Platform
import Testing

@testable import Strata
@testable import StrataStorage

/// A class for values that are long enough for pages of their own.
private final class LongThing: Object {
    override class func className() -> String { "LongThing" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var id: Int
    @Persisted var number: Int
    @Persisted var picture: Data
    @Persisted var text: String
    @Persisted var anything: AnyRealmValue
}

/// If a process truncates a file while a Realm has it open, the lost pages read as zeros. A read of a long value that
/// had lost some of its pages once returned these zeros as data, and reported nothing.
@Suite(.serialized)
struct LostWhileReadTests {
    /// The ways to read a value: by its property, and by its name from a dynamic object.
    enum Way: String, CaseIterable {
        case picture, text, anything
        case pictureByName, textByName, anythingByName

        var property: String { rawValue.replacingOccurrences(of: "ByName", with: "") }

        /// The bytes that the read returns; none for the default.
        fileprivate func bytes(_ thing: LongThing, _ named: DynamicObject) -> [UInt8] {
            switch self {
            case .picture: return Array(thing.picture)
            case .text: return Array(thing.text.utf8)
            case .anything: return thing.anything.dataValue.map { Array($0) } ?? []
            case .pictureByName, .textByName, .anythingByName:
                let found: Any? = named[property]
                return (found as? Data).map { Array($0) } ?? (found as? String).map { Array($0.utf8) } ?? []
            }
        }
    }

    private static let long = 40_000
    private static let letter = UInt8(ascii: "s")

    /// The page of the object's row group, and the pages of a property's value.
    private func pages(
        _ realm: Realm, _ thing: LongThing, _ property: String
    ) throws -> (group: Int, value: Range<Int>) {
        _ = thing.number
        let view = try #require(realm.instance.currentView)
        let location = try #require(thing._location)
        let column = try #require(thing._access.property(property)?.column)
        let bytes = try #require(try view.bytes(location, column))
        let start = try #require(bytes.baseAddress)
        let group = try #require(view.reader.page(of: location.group))
        let first = try #require(view.reader.page(of: start))
        return (group, first..<(try #require(view.reader.page(of: start + bytes.count - 1)) + 1))
    }

    /// Makes a file with object 1, whose row is in a lower page than its values.
    private func make(_ file: TemporaryFile) throws {
        let realm = try Realm(configuration: file.configuration([LongThing.self]))
        let thing = LongThing(value: ["id": 1])
        let other = LongThing(value: ["id": 2])
        other.picture = Data(repeating: 1, count: 1 << 20)
        try realm.write {
            realm.add(thing)
            realm.add(other)
        }
        try realm.write {
            let value = [UInt8](repeating: Self.letter, count: Self.long)
            thing.picture = Data(value)
            thing.text = String(decoding: value, as: UTF8.self)
            thing.anything = .data(Data(value))
        }
        // The deletion frees pages before those of the values. Each write moves the row, until it is in such a page.
        try realm.write { realm.delete(other) }
        for _ in 0..<50 {
            try realm.write { thing.number += 1 }
            let all = try ["picture", "text", "anything"].map { try pages(realm, thing, $0) }
            if all.allSatisfy({ $0.group < $0.value.lowerBound }) { return }
        }
        Issue.record("the row is still in a page after those of its values")
    }

    @Test("the read of a value that has lost a page reports it, and returns the default", arguments: Way.allCases)
    func lost(way: Way) throws {
        let file = TemporaryFile()
        defer { try? FileManager.default.removeItem(atPath: file.url.path + ".damage") }
        try make(file)
        let heard = Locked(0)
        var configuration = file.configuration([LongThing.self])
        configuration.report = { report in
            if case .damage = report { heard.with { $0 += 1 } }
        }
        let realm = try Realm(configuration: configuration)
        let thing = try #require(realm.object(ofType: LongThing.self, forPrimaryKey: 1))
        let named = try #require(realm.dynamicObject(ofType: "LongThing", forPrimaryKey: 1))
        #expect(way.bytes(thing, named) == [UInt8](repeating: Self.letter, count: Self.long))
        let number = thing.number
        let (group, value) = try pages(realm, thing, way.property)
        try #require(group < value.lowerBound && value.count > 2)
        #expect(realm.damage.isEmpty)
        // Cuts the file before the value's last two pages. Its first page, which has its checksum, stays.
        #expect(truncate(file.url.path, off_t((value.upperBound - 2) * 4096)) == 0)
        #expect(thing.number == number)
        #expect(heard.current == 0)
        #expect(way.bytes(thing, named).isEmpty)
        #expect(heard.current > 0 && !realm.damage.isEmpty)
    }
}
