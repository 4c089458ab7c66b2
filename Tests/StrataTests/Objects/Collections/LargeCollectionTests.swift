import Foundation
import Strata
import Testing

/// Lists, sets and maps that are too large for their owner's row, against arrays and dictionaries.
@Suite struct LargeCollectionTests {
    private static func repeatCommand(_ seed: UInt64) -> Comment {
        "seed \(seed): swift test --filter LargeCollectionTests"
    }

    /// Three seeds by default; `OBJECT_HISTORIES=1000` makes a million operations.
    private static let seeds = Array(
        1...max(1, ProcessInfo.processInfo.environment["OBJECT_HISTORIES"].flatMap { UInt64($0) } ?? 3))

    @Test(
        "collections of thousands of elements behave like arrays, sets and dictionaries", arguments: seeds)
    func histories(seed: UInt64) throws {
        let file = TemporaryFile()
        var history = LargeCollectionHistory(seed)
        for round in 0..<3 {
            let realm = try Realm(configuration: file.configuration(LargeCollectionHistory.types))
            if round == 0 {
                let shelf = Shelf()
                try realm.write { realm.add(shelf) }
                try realm.write { history.fill(shelf) }
            }
            let shelf = try #require(realm.objects(Shelf.self).first)
            #expect(ShelfModel(shelf) == history.model, Self.repeatCommand(seed))
            let (numbers, labels) = (CollectionMirror<Int>(), CollectionMirror<String>())
            numbers.token = shelf.numbers.observe { numbers.take($0) }
            labels.token = shelf.labels.observe { labels.take($0) }
            let notes = LiveMirror("notes", shelf.notes, keyPaths: nil) { "\($0.text) \($0.rank)" }
            var topics = history.model.topics
            let token = shelf.topics.observe { change in
                guard case .update(let now, let deletions, let insertions, let modifications) = change else { return }
                for key in deletions { topics[key] = nil }
                for key in insertions + modifications { topics[key] = .some(now[key].flatMap { $0?.text }) }
            }
            for _ in 0..<12 {
                let (before, frozen) = (history, shelf.freeze())
                realm.beginWrite()
                for _ in 0..<(1 + history.below(60)) { history.step(shelf, realm) }
                #expect(ShelfModel(shelf) == history.model, Self.repeatCommand(seed))
                if history.below(4) == 0 {
                    realm.cancelWrite()
                    let generator = history.generator
                    history = before
                    history.generator = generator
                } else {
                    try realm.commitWrite()
                }
                #expect(ShelfModel(frozen) == before.model, Self.repeatCommand(seed))
                #expect(ShelfModel(shelf) == history.model, Self.repeatCommand(seed))
                let isSame = numbers.elements == history.model.numbers
                #expect(isSame, Self.repeatCommand(seed))
                #expect(Set(labels.elements) == history.model.labels, Self.repeatCommand(seed))
                #expect(topics == history.model.topics, Self.repeatCommand(seed))
                notes.check()
                try #require(notes.failures == [], Self.repeatCommand(seed))
            }
            token.invalidate()
            let configuration = realm.configuration
            let expected = Locked(history.model)
            OtherThread.run {
                let other = try? Realm(configuration: configuration)
                let shelf = other?.objects(Shelf.self).first
                #expect(shelf.map { ShelfModel($0) } == expected.current)
            }
        }
    }

    @Test("a walk continues on the collection as it was at its start")
    func walkKeepsItsStart() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        let numbers = Array(0..<9000)
        shelf.numbers.append(objectsIn: numbers)
        for number in 0..<3000 { shelf.notes.append(Note("\(number)")) }
        for number in 0..<3000 { shelf.sizes["\(number)"] = Double(number) }
        try realm.write { realm.add(shelf) }
        var walked: [Int] = []
        var committed: ColumnIterator<Int>?
        try realm.write {
            for number in shelf.numbers {
                walked.append(number)
                if number % 1000 == 0, number < 7500 { shelf.numbers.insert(-number, at: 0) }
                if number == 7500 { shelf.numbers.removeAll() }
            }
            let isWhole = walked == numbers
            #expect(isWhole && shelf.numbers.isEmpty)
            shelf.numbers.append(objectsIn: numbers)
            var texts: [String] = []
            for note in shelf.notes {
                texts.append(note.text)
                realm.delete(note)
            }
            #expect(texts == (0..<3000).map { "\($0)" } && shelf.notes.isEmpty)
            var keys = 0
            for (key, _) in shelf.sizes {
                shelf.sizes[key] = nil
                keys += 1
            }
            #expect(keys == 3000 && shelf.sizes.isEmpty)
            committed = shelf.numbers.makeIterator()
            #expect(committed?.next() == 0)
        }
        // `committed` began in the write above, `outside` after its commit; the next write changes neither walk.
        var rest = [0]
        var outside = shelf.numbers.makeIterator()
        try realm.write { shelf.numbers.removeSubrange(10..<20) }
        while let number = committed?.next() { rest.append(number) }
        var seen: [Int] = []
        while let number = outside.next() { seen.append(number) }
        let isWhole = (rest == numbers, seen == numbers, Array(shelf.numbers) == Array(0..<10) + Array(20..<9000))
        #expect(isWhole.0 && isWhole.1 && isWhole.2)
    }

    @Test("a large list assigned as a whole changes only where it differs")
    func assignedWhole() throws {
        let realm = try makeRealm(LargeCollectionHistory.types)
        let shelf = Shelf()
        try realm.write { realm.add(shelf) }
        var numbers = Array(0..<9000)
        try realm.write { shelf["numbers"] = numbers }
        let mirror = CollectionMirror<Int>()
        mirror.token = shelf.numbers.observe { mirror.take($0) }
        numbers[4000] = -1
        numbers.insert(-2, at: 4001)
        try realm.write { shelf["numbers"] = numbers }
        let isSame = (Array(shelf.numbers) == numbers, mirror.elements == numbers)
        #expect(isSame.0 && isSame.1)
        try realm.write { shelf["numbers"] = [1, 2] }
        #expect(Array(shelf.numbers) == [1, 2] && mirror.elements == [1, 2])
    }
}
