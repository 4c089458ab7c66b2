import Seeds
import Strata
import Testing

@Suite struct ListTests {
    final class Box: Object {
        @Persisted var numbers: List<Int>
        @Persisted var words: List<String?>
        @Persisted var notes: List<Note>
    }

    @Test("a managed list behaves like an array, for any sequence of changes")
    func managedLikeAnArray() throws {
        let realm = try makeRealm([Box.self])
        let box = Box()
        try realm.write { realm.add(box) }
        var model: [Int] = []
        var generator = RandomStream(Seed(42))
        for round in 0..<300 {
            try realm.write {
                let place = model.isEmpty ? 0 : Int.random(in: 0..<model.count, using: &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0, 1:
                    box.numbers.append(round)
                    model.append(round)
                case 2:
                    box.numbers.insert(round << 20, at: place)
                    model.insert(round << 20, at: place)
                case 3 where !model.isEmpty:
                    box.numbers.remove(at: place)
                    model.remove(at: place)
                case 4 where !model.isEmpty:
                    box.numbers[place] = -round
                    model[place] = -round
                case 5 where model.count > 1:
                    box.numbers.move(from: place, to: 0)
                    model.insert(model.remove(at: place), at: 0)
                case 6 where model.count > 1:
                    box.numbers.swapAt(place, model.count - 1)
                    model.swapAt(place, model.count - 1)
                case 7:
                    box.numbers.replaceSubrange(0..<place, with: [1, 2])
                    model.replaceSubrange(0..<place, with: [1, 2])
                default: break
                }
            }
            #expect(Array(box.numbers) == model)
        }
    }

    @Test("an unmanaged list becomes managed with its owner and keeps its identity")
    func becomesManaged() throws {
        let realm = try makeRealm([Box.self])
        let box = Box()
        let notes = box.notes
        notes.append(Note("a"))
        box.words.append(objectsIn: ["x", nil])
        try realm.write { realm.add(box) }
        try realm.write { notes.append(Note("b")) }
        #expect(box.notes.map(\.text) == ["a", "b"])
        #expect(realm.objects(Note.self).count == 2)
        #expect(Array(box.words) == ["x", nil])
        try realm.write { box.notes = List() }
        #expect(notes.isEmpty && realm.objects(Note.self).count == 2)
    }

    @Test("a deleted object leaves every list, with all its occurrences")
    func deletedObjectLeaves() throws {
        let realm = try makeRealm([Box.self])
        let (box, note) = (Box(), Note("twice"))
        box.notes.append(objectsIn: [note, Note("once"), note])
        try realm.write { realm.add(box) }
        #expect(box.notes.count == 3)
        #expect(box.notes.where { $0.text == "twice" }.count == 2)
        try realm.write { realm.delete(note) }
        #expect(box.notes.map(\.text) == ["once"])
    }

    @Test("removing an element removes its first occurrence")
    func firstOccurrenceIsRemoved() throws {
        let realm = try makeRealm([Box.self])
        let box = Box()
        box.numbers.append(objectsIn: [1, 2, 1])
        try realm.write {
            realm.add(box)
            box.numbers.remove(1)
        }
        #expect(Array(box.numbers) == [2, 1])
        // Text is compared by its bytes, so that two spellings of an accent differ.
        try realm.write { box.words.append(objectsIn: [nil, "\u{E9}", "e\u{301}"]) }
        #expect(box.words.firstIndex(of: "e\u{301}") == 2 && box.words.firstIndex(of: "\u{E9}") == 1)
        #expect(box.numbers.first == 2 && box.numbers.last == 1)
    }

    @Test("an index out of range fails the write, and the handler is called")
    func indexOutOfRange() throws {
        let reports = Locked<[String]>([])
        let realm = try makeRealm([Box.self, Note.self]) { report in reports.with { $0.append(report.message) } }
        let box = Box()
        box.numbers.append(objectsIn: [1, 2, 3])
        try realm.write { realm.add(box) }
        let changes: [(Box) -> Void] = [
            { $0.numbers[3] = 9 }, { $0.numbers.insert(9, at: 5) }, { $0.numbers.remove(at: -1) },
            { $0.numbers.removeSubrange(1..<4) }, { $0.numbers.move(from: 0, to: 3) }, { $0.numbers.swapAt(0, 3) },
            { $0.numbers.replaceSubrange(2..<5, with: [9]) }, { $0.numbers.remove(atOffsets: [0, 7]) },
            { $0.numbers.removeLast(4) }, { $0.numbers.move(fromOffsets: [0], toOffset: 9) },
        ]
        for change in changes {
            let error = #expect(throws: Realm.Error.self) { try realm.write { change(box) } }
            #expect(error?.code == .invalidInput && error?.message.contains("numbers") == true)
            #expect(Array(box.numbers) == [1, 2, 3])
        }
        #expect(reports.current.count == changes.count)
        // Removing from an empty list, and reading an index out of range, lose no data: the handler is called, and no
        // write fails.
        try realm.write {
            box.words.removeLast()
            box.words.removeFirst()
            box.numbers.append(4)
        }
        #expect(Array(box.numbers) == [1, 2, 3, 4] && reports.current.count == changes.count + 2)
        #expect(box.numbers[-1] == 0 && box.numbers[4] == 0 && reports.current.count == changes.count + 4)
    }
}
