import Foundation
import Strata
import Testing

@Suite struct CodableTests {
    final class Part: Object, Codable { @Persisted var firstName = "" }
    final class Letter: Object, Codable {
        @Persisted var sentAt: Date
        @Persisted var readAt: Date?
        @Persisted var seal: Data
        @Persisted var stamp: Data?
        @Persisted var dates: List<Date>
        @Persisted var proofs: Map<String, Data>
        @Persisted var days: MutableSet<Date>
        @Persisted var fellow: Part?
        @Persisted var price: Decimal128
    }

    private let json = """
        {"sent_at":"2024-02-29T12:00:00Z","read_at":"2024-03-01T00:00:00Z","seal":[1,2],"stamp":[3],\
        "dates":["2001-01-01T00:00:00Z"],"proofs":{"camelCase":[9]},"days":["2001-01-02T00:00:00Z"],\
        "fellow":{"first_name":"Ada"},"price":"1.5"}
        """

    private var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.dataDecodingStrategy = .deferredToData
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.dataEncodingStrategy = .deferredToData
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys]
        return encoder
    }

    private func check(_ letter: Letter) {
        #expect(letter.sentAt == Date(timeIntervalSince1970: 1_709_208_000) && letter.seal == Data([1, 2]))
        #expect(letter.readAt == Date(timeIntervalSince1970: 1_709_251_200) && letter.stamp == Data([3]))
        #expect(letter.dates.first == Date(timeIntervalSinceReferenceDate: 0))
        #expect(letter.days.first == Date(timeIntervalSinceReferenceDate: 86_400))
        #expect(letter.proofs["camelCase"] == Data([9]) && letter.fellow?.firstName == "Ada" && letter.price == 1.5)
    }

    @Test("a coder's strategies for dates, data and keys hold for properties and collections")
    func strategiesHold() throws {
        let letter = try decoder.decode(Letter.self, from: Data(json.utf8))
        check(letter)
        let realm = try makeRealm([Letter.self])
        try realm.write { realm.add(letter) }
        check(letter)
        #expect(throws: EncodingError.self) { try encoder.encode(letter) }
        let back = try encoder.encode(letter.detached())
        #expect(String(decoding: back, as: UTF8.self).contains("\"sent_at\":\"2024-02-29T12:00:00Z\""))
        check(try decoder.decode(Letter.self, from: back))
        let text = String(decoding: try encoder.encode(letter.proofs), as: UTF8.self)
        #expect(text == "{\"camelCase\":[9]}")
        let parts = try encoder.encode(realm.objects(Part.self))
        #expect(String(decoding: parts, as: UTF8.self) == "[{\"first_name\":\"Ada\"}]")
    }

    @Test("without strategies dates are seconds and data is base64")
    func withoutStrategies() throws {
        let text = """
            {"sentAt":2.5,"seal":"ZGVm","dates":[2.5],"proofs":{"a":"ZGVm"},"days":[],"price":"2"}
            """
        let letter = try JSONDecoder().decode(Letter.self, from: Data(text.utf8))
        #expect(letter.sentAt == Date(timeIntervalSinceReferenceDate: 2.5) && letter.seal == Data("def".utf8))
        #expect(letter.readAt == nil && letter.stamp == nil && letter.fellow == nil)
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(letter)) as? [String: Any]
        #expect(object?["seal"] as? String == "ZGVm" && object?["sentAt"] as? Double == 2.5)
        #expect(object?["dates"] as? [Double] == [2.5] && object?["proofs"] as? [String: String] == ["a": "ZGVm"])
    }
}
