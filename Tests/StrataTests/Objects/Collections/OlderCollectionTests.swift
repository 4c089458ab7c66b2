import StrataStorage
import Testing

@testable import Strata

/// Files from before collections could be trees: each collection is a value in its owner's row, however long it is.
@Suite struct OlderCollectionTests {
    final class Attic: Object {
        @Persisted var numbers: List<Int>
        @Persisted var words: MutableSet<String>
        @Persisted var notes: List<Note>
        @Persisted var sizes: Map<String, Int>
    }

    /// A file whose schema has no collection flags, with one attic.
    private func olderFile(_ configuration: Realm.Configuration) throws {
        let plans = [Attic.self, Note.self].map { ClassPlan.plan(for: $0) }
        var schema = try SchemaChange(from: StoreSchema(), to: plans).schema
        for table in schema.tables.indices {
            for column in schema.tables[table].columns.indices {
                schema.tables[table].columns[column].collection = nil
            }
        }
        let store = try Store.open(path: configuration.path, options: configuration.sealedOptions())
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        let attics = try #require(schema.position(named: "Attic"))
        let notes = try #require(schema.position(named: "Note"))
        func add(_ table: Int, _ key: Int64, _ values: [String: _StoredValue]) throws {
            let cells = RowBytes(
                schema.tables[table].columns.map { column in
                    values[column.name] ?? (column.type == .bytes || column.type == .links ? .bytes([]) : .integer(0))
                })
            try transaction.insert(table, key: RowKey(key), cells.cells)
        }
        for key in 0..<900 as Range<Int64> { try add(notes, key, ["text": .text("note \(key)")]) }
        let numbers = (0..<5000).map { _StoredValue.integer($0 * 3) }
        let words = StoredCollection.set((0..<900).map { .text("word \($0)") })
        let sizes = StoredCollection(
            keys: (100..<999).map { "key \($0)" }, values: (100..<999).map { .integer(Int64($0)) })
        func bytes(_ contents: StoredCollection, _ property: String) throws -> _StoredValue {
            let column = try #require(schema.tables[attics].columns.first { $0.name == property })
            return .bytes(contents.encoded(try #require(ColumnTag(rawValue: column.tag))))
        }
        try add(
            attics, 0,
            [
                "numbers": bytes(StoredCollection(values: numbers), "numbers"), "words": bytes(words, "words"),
                "notes": bytes(StoredCollection(values: (0..<900).map { .link($0) }), "notes"),
                "sizes": bytes(sizes, "sizes"),
            ])
        try transaction.commit()
        try store.close()
    }

    private func check(_ realm: Realm) throws {
        let attic = try #require(realm.objects(Attic.self).first)
        #expect(attic.numbers.count == 5000 && attic.numbers[4999] == 14997 && attic.numbers.reduce(0, +) == 37_492_500)
        #expect(attic.words.count == 900 && attic.words.contains("word 77") && !attic.words.contains("word 900"))
        #expect(attic.notes.map(\.text) == (0..<900).map { "note \($0)" })
        #expect(attic.sizes.count == 899 && attic.sizes["key 500"] == 500 && attic.sizes["key 99"] == nil)
        #expect(realm.objects(Attic.self).filter("ANY numbers == 2997 AND numbers.@count == 5000").count == 1)
        #expect(realm.objects(Attic.self).filter("ANY notes.text == 'note 800'").count == 1)
    }

    @Test("an older file is read as it is, and changes in place once it is opened for writing")
    func olderFileIsConverted() throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Attic.self, Note.self])
        try olderFile(configuration)
        configuration.readOnly = true
        try check(Realm(configuration: configuration))
        configuration.readOnly = false
        let realm = try Realm(configuration: configuration)
        try check(realm)
        let attic = try #require(realm.objects(Attic.self).first)
        let mirror = Locked<[Int]>([])
        let token = attic.numbers.observe { change in
            switch change {
            case .initial(let numbers): mirror.with { $0 = Array(numbers) }
            case .update(let numbers, let deletions, let insertions, _):
                mirror.with { known in
                    for place in deletions.reversed() { known.remove(at: place) }
                    for place in insertions { known.insert(numbers[place], at: place) }
                }
            case .error(let error): Issue.record("\(error)")
            }
        }
        try realm.write {
            attic.numbers.insert(-1, at: 2500)
            attic.numbers.removeLast()
            attic.words.insert("word 900")
            attic.sizes["key 99"] = 99
            realm.delete(attic.notes[10])
        }
        let isSame = mirror.current == Array(attic.numbers)
        #expect(isSame && attic.numbers.count == 5000 && attic.numbers[2500] == -1)
        #expect(attic.words.count == 901 && attic.sizes["key 99"] == 99 && attic.notes.count == 899)
        token.invalidate()
    }

    @Test("classes unknown to the program are converted as well")
    func unknownClasses() throws {
        let file = TemporaryFile()
        try olderFile(file.configuration([Attic.self, Note.self]))
        let realm = try Realm(configuration: file.configuration([Note.self]))
        let attic = try #require(realm.dynamicObjects("Attic").first)
        let numbers = try #require(attic["numbers"] as? List<Int>)
        try realm.write { numbers.insert(7, at: 0) }
        #expect(numbers.count == 5001 && numbers[0] == 7 && numbers[5000] == 14997)
    }
}

/// The values of a row as cells, valid during this object's lifetime.
private final class RowBytes {
    private var buffers: [UnsafeMutableRawBufferPointer] = []
    private let storage: UnsafeMutableBufferPointer<Cell>
    var cells: UnsafeBufferPointer<Cell> { UnsafeBufferPointer(storage) }

    init(_ values: [_StoredValue]) {
        storage = .allocate(capacity: values.count)
        for (place, value) in values.enumerated() {
            value.withCell { cell in
                var kept = cell
                if cell.kind == .bytes {
                    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: cell.count, alignment: 1)
                    copy.copyMemory(from: cell.bytesValue)
                    buffers.append(copy)
                    kept = .bytes(UnsafeRawBufferPointer(copy))
                }
                storage.initializeElement(at: place, to: kept)
            }
        }
    }

    deinit {
        for buffer in buffers { buffer.deallocate() }
        storage.deallocate()
    }
}
