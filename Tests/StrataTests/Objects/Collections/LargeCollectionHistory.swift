import Foundation
import Seeds
import Strata
import Testing

/// The model class of the histories of large collections.
final class Shelf: Object {
    @Persisted var numbers: List<Int>
    @Persisted var words: List<String?>
    @Persisted var notes: List<Note>
    @Persisted var labels: MutableSet<String>
    @Persisted var primes: MutableSet<Int>
    @Persisted var prices: MutableSet<Decimal128>
    @Persisted var sizes: Map<String, Double>
    @Persisted var topics: Map<String, Note?>
}

/// The expected contents of a shelf's collections.
struct ShelfModel: Equatable {
    var numbers: [Int] = []
    var words: [String?] = []
    var notes: [String] = []
    var labels: Set<String> = []
    var primes: Set<Int> = []
    var prices: Set<Decimal128> = []
    var sizes: [String: Double] = [:]
    var topics: [String: String?] = [:]

    init() {}

    /// The same text in every process for the same content.
    var fingerprint: String {
        var hash = UInt64(14_695_981_039_346_656_037)
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
            hash = (hash ^ 0xFF) &* 1_099_511_628_211
        }
        for number in numbers { add(String(number)) }
        for word in words { add(word ?? "-") }
        for note in notes { add(note) }
        for label in labels.sorted() { add(label) }
        for prime in primes.sorted() { add(String(prime)) }
        for price in prices.map(\.description).sorted() { add(price) }
        for (key, value) in sizes.sorted(by: { $0.key < $1.key }) { add("\(key) \(value)") }
        for (key, value) in topics.sorted(by: { $0.key < $1.key }) { add("\(key) \(value ?? "-")") }
        return String(hash, radix: 16)
    }

    init(_ shelf: Shelf) {
        numbers = Array(shelf.numbers)
        words = Array(shelf.words)
        notes = shelf.notes.map(\.text)
        labels = Set(shelf.labels)
        primes = Set(shelf.primes)
        prices = Set(shelf.prices)
        for (key, value) in shelf.sizes { sizes[key] = value }
        for (key, value) in shelf.topics { topics[key] = .some(value?.text) }
    }
}

/// Random operations on a shelf and on its model.
struct LargeCollectionHistory {
    static let types: [ObjectBase.Type] = [Shelf.self, Note.self]

    var generator: RandomStream
    var model = ShelfModel()
    var made = 0
    /// The prefix of this history's note names.
    var maker = "note"

    init(_ seed: UInt64) { generator = RandomStream(Seed(seed)) }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &generator) }

    private mutating func word() -> String? {
        switch below(20) {
        case 0: nil
        case 1: String(repeating: "long ", count: 500 + below(200))
        default: "word \(below(5000))"
        }
    }

    private mutating func note() -> Note {
        made += 1
        return Note("\(maker) \(made)")
    }

    mutating func fill(_ shelf: Shelf) {
        for place in 0..<4000 {
            model.numbers.append(place * 37 % 1009)
            model.words.append(word())
            model.labels.insert("label \(place * 31 % 6007)")
            model.primes.insert(place * 13)
            model.prices.insert(Decimal128(integerLiteral: Int64(place * 7)))
            model.sizes["key \(place * 17 % 8009)"] = Double(place) / 4
        }
        shelf.numbers.append(objectsIn: model.numbers)
        shelf.words.append(objectsIn: model.words)
        shelf.labels.insert(objectsIn: model.labels.shuffled(using: &generator))
        shelf.primes.insert(objectsIn: model.primes)
        shelf.prices.insert(objectsIn: model.prices)
        for (key, value) in model.sizes.sorted(by: { $0.key < $1.key }) { shelf.sizes[key] = value }
        for _ in 0..<1500 {
            let note = note()
            model.notes.append(note.text)
            model.topics["topic of \(note.text)"] = .some(note.text)
            shelf.notes.append(note)
            shelf.topics["topic of \(note.text)"] = .some(note)
        }
    }

    /// Long histories remove more than they add, so removed notes are replaced.
    private mutating func refill(_ shelf: Shelf) {
        if model.numbers.count < 500 {
            let run = (0..<1000).map { _ in below(1009) }
            shelf.numbers.append(objectsIn: run)
            model.numbers += run
        }
        if model.words.count < 500 {
            let run = (0..<1000).map { _ in word() }
            shelf.words.append(objectsIn: run)
            model.words += run
        }
        if model.notes.count < 500 {
            for _ in 0..<500 {
                let note = note()
                shelf.notes.append(note)
                model.notes.append(note.text)
            }
        }
    }

    mutating func step(_ shelf: Shelf, _ realm: Realm) {
        refill(shelf)
        switch below(4) {
        case 0: changeNumbers(shelf)
        case 1: changeWords(shelf)
        case 2: changeNotes(shelf, realm)
        default: changeSetsAndMaps(shelf)
        }
    }

    private mutating func changeNumbers(_ shelf: Shelf) {
        let place = below(model.numbers.count)
        let value = below(1 << 40)
        switch below(10) {
        case 0:
            shelf.numbers.append(value)
            model.numbers.append(value)
        case 1:
            shelf.numbers.insert(value, at: place)
            model.numbers.insert(value, at: place)
        case 2:
            shelf.numbers[place] = value
            model.numbers[place] = value
        case 3:
            shelf.numbers.remove(at: place)
            model.numbers.remove(at: place)
        case 4:
            let run = Array(0..<below(700))
            let end = min(model.numbers.count, place + below(700))
            shelf.numbers.replaceSubrange(place..<end, with: run)
            model.numbers.replaceSubrange(place..<end, with: run)
        case 5:
            let to = below(model.numbers.count)
            shelf.numbers.move(from: place, to: to)
            model.numbers.insert(model.numbers.remove(at: place), at: to)
        case 6:
            let offsets = Set((0..<(1 + below(20))).map { _ in below(model.numbers.count) }).sorted()
            let to = below(model.numbers.count + 1)
            shelf.numbers.move(fromOffsets: offsets, toOffset: to)
            let taken = offsets.map { model.numbers[$0] }
            for offset in offsets.reversed() { model.numbers.remove(at: offset) }
            model.numbers.insert(contentsOf: taken, at: to - offsets.count { $0 < to })
        case 7:
            let offsets = (0..<(1 + below(20))).map { _ in below(model.numbers.count) }
            shelf.numbers.remove(atOffsets: offsets)
            for offset in Set(offsets).sorted(by: >) { model.numbers.remove(at: offset) }
        case 8:
            let other = below(model.numbers.count)
            shelf.numbers.swapAt(place, other)
            model.numbers.swapAt(place, other)
        default:
            let known = model.numbers[place]
            #expect(shelf.numbers.firstIndex(of: known) == model.numbers.firstIndex(of: known))
            shelf.numbers.remove(known)
            if let first = model.numbers.firstIndex(of: known) { model.numbers.remove(at: first) }
        }
    }

    private mutating func changeWords(_ shelf: Shelf) {
        let place = below(model.words.count)
        let value = word()
        switch below(5) {
        case 0:
            shelf.words.insert(value, at: place)
            model.words.insert(value, at: place)
        case 1:
            shelf.words.remove(at: place)
            model.words.remove(at: place)
        case 2:
            shelf.words[place] = value
            model.words[place] = value
        case 3:
            let end = min(model.words.count, place + below(100))
            shelf.words.removeSubrange(place..<end)
            model.words.removeSubrange(place..<end)
        default:
            let run = (0..<below(80)).map { _ in word() }
            shelf.words.append(objectsIn: run)
            model.words += run
        }
    }

    private mutating func changeNotes(_ shelf: Shelf, _ realm: Realm) {
        let place = below(model.notes.count)
        switch below(7) {
        case 0:
            let note = note()
            shelf.notes.insert(note, at: place)
            model.notes.insert(note.text, at: place)
        case 1:
            let known = shelf.notes[below(model.notes.count)]
            shelf.notes.insert(known, at: place)
            model.notes.insert(known.text, at: place)
        case 2:
            shelf.notes.remove(at: place)
            model.notes.remove(at: place)
        case 3: delete([shelf.notes[place]], realm)
        case 4: shelf.notes[place].rank += 1
        case 5:
            let found = shelf.notes.firstIndex(of: shelf.notes[place])
            #expect(found == model.notes.firstIndex(of: model.notes[place]))
        default: delete(Array(shelf.notes[place..<min(place + 1 + below(40), model.notes.count)]), realm)
        }
    }

    /// Deleted objects leave every list, and become nil under their keys in maps.
    private mutating func delete(_ notes: [Note], _ realm: Realm) {
        let gone = Set(notes.map(\.text))
        realm.delete(Set(notes))
        model.notes.removeAll { gone.contains($0) }
        for (key, value) in model.topics where value.map({ gone.contains($0) }) ?? false {
            model.topics[key] = .some(nil)
        }
    }

    private mutating func changeSetsAndMaps(_ shelf: Shelf) {
        let value = below(8000)
        switch below(10) {
        case 0:
            #expect(
                shelf.labels.insert("label \(value)").inserted == model.labels.insert("label \(value)").inserted)
        case 1:
            #expect(shelf.labels.contains("label \(value)") == model.labels.contains("label \(value)"))
            shelf.labels.remove("label \(value)")
            model.labels.remove("label \(value)")
        case 2:
            shelf.primes.insert(value)
            model.primes.insert(value)
        case 3:
            shelf.primes.remove(value * 13)
            model.primes.remove(value * 13)
        case 4:
            let price = Decimal128(integerLiteral: Int64(value))
            #expect(shelf.prices.contains(price) == model.prices.contains(price))
            shelf.prices.insert(price)
            model.prices.insert(price)
        case 5:
            shelf.prices.remove(Decimal128(integerLiteral: Int64(value * 7)))
            model.prices.remove(Decimal128(integerLiteral: Int64(value * 7)))
        case 6:
            #expect(shelf.sizes["key \(value)"] == model.sizes["key \(value)"])
            shelf.sizes["key \(value)"] = Double(value)
            model.sizes["key \(value)"] = Double(value)
        case 7:
            shelf.sizes["key \(value)"] = nil
            model.sizes["key \(value)"] = nil
        case 8:
            shelf.topics["new \(value)"] = .some(shelf.notes[0])
            model.topics["new \(value)"] = .some(model.notes[0])
        default:
            shelf.labels.formUnion(["label \(value)", "other \(value)"])
            model.labels.formUnion(["label \(value)", "other \(value)"])
        }
    }
}

/// Applies an observer's changes to its mirror.
final class CollectionMirror<Element: RealmCollectionValue> {
    var elements: [Element] = []
    var token: NotificationToken?

    func take<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>)
    where Collection.Element == Element {
        switch change {
        case .initial(let collection): elements = Array(collection)
        case .update(let collection, let deletions, let insertions, _):
            for place in deletions.reversed() { elements.remove(at: place) }
            for place in insertions { elements.insert(collection[place], at: place) }
        case .error(let error): Issue.record("\(error)")
        }
    }
}
