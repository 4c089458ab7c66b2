import Testing

@testable import StrataStorage

/// An operation that owns its bytes, for comparison.
private enum Owned: Equatable {
    enum Value: Equatable {
        case null, integer(Int64), double(UInt64), bytes([UInt8])

        init(_ cell: Cell) {
            switch cell.kind {
            case .null: self = .null
            case .integer: self = .integer(cell.integerValue)
            case .double: self = .double(cell.bits)
            case .bytes: self = .bytes(Array(cell.bytesValue))
            }
        }

        func withCell(_ body: (Cell) -> Void) {
            switch self {
            case .null: body(.null)
            case .integer(let value): body(.integer(value))
            case .double(let bits): body(.double(Double(bitPattern: bits)))
            case .bytes(let bytes): bytes.withUnsafeBytes { body(.bytes($0)) }
            }
        }
    }

    case insert(UInt32, Int64, [UInt16], [Value])
    case set(UInt32, Int64, UInt16, Value)
    case delete(UInt32, Int64)
    case deleteAll(UInt32)
    case schema([UInt8])
    case nextKey(UInt32, Int64)
    case collection(UInt32, Int64, UInt16, Int, [Int] = [])
    case insertElements(Int, Int, [Value])
    case setElements(Int, [Value])
    case removeElements(Int, Int)
    case moveElements(Int, Int, Int)

    func record(_ recorder: inout ChangeRecorder) {
        switch self {
        case .insert(let table, let key, let columns, let values):
            let definitions = columns.map { ColumnDefinition(id: ColumnID($0), name: "", type: .bytes) }
            // The contents must not move while the cells are used.
            let storage = UnsafeMutableBufferPointer<Cell>.allocate(capacity: values.count)
            var kept: [UnsafeMutableRawBufferPointer] = []
            for (index, value) in values.enumerated() {
                if case .bytes(let bytes) = value {
                    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
                    copy.copyBytes(from: bytes)
                    kept.append(copy)
                    storage.initializeElement(at: index, to: .bytes(UnsafeRawBufferPointer(copy)))
                } else {
                    value.withCell { storage.initializeElement(at: index, to: $0) }
                }
            }
            recorder.insert(
                TableID(table), columns: definitions, key: RowKey(key), cells: UnsafeBufferPointer(storage))
            for copy in kept { copy.deallocate() }
            storage.deallocate()
        case .set(let table, let key, let column, let value):
            withCell(value) { recorder.set(TableID(table), RowKey(key), column: ColumnID(column), to: $0) }
        case .delete(let table, let key): recorder.delete(TableID(table), RowKey(key))
        case .deleteAll(let table): recorder.deleteAll(TableID(table))
        case .schema(let bytes): bytes.withUnsafeBytes { recorder.schema($0) }
        case .nextKey(let table, let key): recorder.nextKey(TableID(table), RowKey(key))
        case .collection(let table, let key, let column, let cells, let path):
            recorder.collection(TableID(table), RowKey(key), ColumnID(column), cells: cells, path: path)
        case .insertElements(let place, let count, let values):
            recorder.insertElements(at: place, count: count)
            for value in values { withCell(value) { recorder.element($0) } }
        case .setElements(let place, let values):
            recorder.setElements(at: place, count: values.count)
            for value in values { withCell(value) { recorder.element($0) } }
        case .removeElements(let place, let count): recorder.removeElements(at: place, count: count)
        case .moveElements(let place, let count, let target):
            recorder.moveElements(at: place, count: count, to: target)
        }
    }

    /// Operations on the elements of a collection, none of which extends the one before.
    static func randomElements(_ generator: inout SplitMix64) -> [Owned] {
        let cells = Int.random(in: 1...2, using: &generator)
        let path = (0..<Int.random(in: 0...3, using: &generator)).map { _ in Int.random(in: 0...300, using: &generator)
        }
        var all: [Owned] = [
            .collection(.random(in: 1...3, using: &generator), randomInteger(&generator), 7, cells, path)
        ]
        for number in 0..<Int.random(in: 0...4, using: &generator) {
            let place = number * 100 + Int.random(in: 0...20, using: &generator)
            let count = Int.random(in: 0...5, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: all.append(.removeElements(place, count))
            case 1: all.append(.moveElements(place, count, 1 << 40))
            case 2: all.append(.setElements(place, (0..<count).map { _ in randomValue(&generator) }))
            default:
                all.append(.insertElements(place, count, (0..<(count * cells)).map { _ in randomValue(&generator) }))
            }
        }
        return all
    }

    private func withCell(_ value: Value, _ body: (Cell) -> Void) { value.withCell(body) }

    static func random(_ generator: inout SplitMix64) -> Owned {
        let table = UInt32.random(in: 1...3, using: &generator)
        let key = randomInteger(&generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: return .schema((0..<Int.random(in: 0...40, using: &generator)).map { UInt8($0) })
        case 1: return .deleteAll(table)
        case 2: return .nextKey(table, key)
        case 3...5: return .delete(table, key)
        case 6...10: return .set(table, key, .random(in: 0...(.max), using: &generator), randomValue(&generator))
        default:
            let columns = (0..<UInt16(table) * 2).map { $0 * 300 }
            return .insert(table, key, columns, columns.map { _ in randomValue(&generator) })
        }
    }

    private static func randomInteger(_ generator: inout SplitMix64) -> Int64 {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return .min
        case 1: return .max
        case 2: return 0
        default: return Int64(bitPattern: generator.next()) >> Int64.random(in: 0...63, using: &generator)
        }
    }

    private static func randomValue(_ generator: inout SplitMix64) -> Value {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return .null
        case 1: return .integer(randomInteger(&generator))
        case 2: return .double(generator.next())
        default:
            let count = Int.random(in: 0..<8, using: &generator) == 0 ? 5000 : Int.random(in: 0...40, using: &generator)
            return .bytes((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
    }
}

@Suite struct ChangeRecordTests {
    private func read(_ bytes: UnsafeRawBufferPointer) throws -> [Owned] {
        var reader = try ChangeReader(bytes)
        var result: [Owned] = []
        while let change = try reader.next() {
            switch change {
            case .insert(let table, let key):
                result.append(
                    .insert(
                        table.rawValue, key.rawValue, reader.columns.map(\.rawValue), reader.cells.map(Owned.Value.init)
                    ))
            case .set(let table, let key, let column, let cell):
                result.append(.set(table.rawValue, key.rawValue, column.rawValue, Owned.Value(cell)))
            case .delete(let table, let key): result.append(.delete(table.rawValue, key.rawValue))
            case .deleteAll(let table): result.append(.deleteAll(table.rawValue))
            case .schema(let bytes): result.append(.schema(Array(bytes)))
            case .nextKey(let table, let key): result.append(.nextKey(table.rawValue, key.rawValue))
            case .collection(let table, let key, let column, let cells, let path):
                result.append(.collection(table.rawValue, key.rawValue, column.rawValue, cells, path))
            case .insertElements(let place, let count, _):
                result.append(.insertElements(place, count, try values(&reader)))
            case .setElements(let place, _, _): result.append(.setElements(place, try values(&reader)))
            case .removeElements(let place, let count, _): result.append(.removeElements(place, count))
            case .moveElements(let place, let count, let target):
                result.append(.moveElements(place, count, target))
            }
        }
        return result
    }

    private func values(_ reader: inout ChangeReader) throws -> [Owned.Value] {
        var values: [Owned.Value] = []
        while let cell = try reader.element() { values.append(Owned.Value(cell)) }
        return values
    }

    @Test("any operations read back as they were recorded", arguments: 0..<60)
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var recorder = ChangeRecorder(limit: 1 << 24)
        for round in 0..<2 {
            recorder.reset(keep: 8192)
            let startsEmpty = recorder.isEmpty
            #expect(startsEmpty)
            var operations: [Owned] = []
            for _ in 0..<200 {
                operations +=
                    generator.below(4) == 0
                    ? Owned.randomElements(&generator) + [.deleteAll(9)] : [Owned.random(&generator)]
            }
            for operation in operations { operation.record(&recorder) }
            let bytes = recorder.finish(lsn: UInt64(40 + round), flags: 6)
            let reader = try ChangeReader(bytes)
            let (lsn, flags) = (reader.lsn, reader.flags)
            #expect(lsn == UInt64(40 + round) && flags == 6)
            #expect(try read(bytes) == operations)
        }
    }

    @Test("the encoding is pinned") func layout() {
        var recorder = ChangeRecorder(limit: 1000)
        Owned.insert(2, 10, [1, 300], [.integer(-1), .bytes([65, 66])]).record(&recorder)
        Owned.insert(2, 11, [1, 300], [.null, .bytes([])]).record(&recorder)
        Owned.set(2, -1, 300, .double(0x3FF0_0000_0000_0000)).record(&recorder)
        Owned.delete(7, 64).record(&recorder)
        Owned.deleteAll(7).record(&recorder)
        Owned.schema([9]).record(&recorder)
        Owned.nextKey(2, 12).record(&recorder)
        Owned.set(2, 0, 0, .integer(0)).record(&recorder)
        let expected: [UInt8] = [
            1, 2, 2, 1, 0xAC, 0x02,  // columns
            2, 20, 17, 1, 3, 2, 65, 66,  // row 10
            2, 2, 0, 3, 0,  // row 11
            3, 2, 1, 0xAC, 0x02, 2, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F,  // set
            4, 7, 0x80, 0x01, 5, 7, 6, 1, 9, 7, 2, 24, 3, 2, 0, 0, 16,
        ]
        let count = UInt8(16 + expected.count)
        let header: [UInt8] = [count, 0, 0, 0, 3, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0]
        let bytes = Array(recorder.finish(lsn: 261, flags: 3))
        #expect(bytes == header + expected)
    }

    @Test("operations on elements are pinned, and an adjacent one extends the last")
    func elements() throws {
        var recorder = ChangeRecorder(limit: 1000)
        let one: Owned.Value = .integer(1)
        for place in 5..<8 {
            Owned.collection(2, 10, 300, 1).record(&recorder)
            Owned.insertElements(place, 1, [one]).record(&recorder)
        }
        for _ in 0..<3 { Owned.removeElements(4, 1).record(&recorder) }
        for _ in 0..<2 { Owned.removeElements(4, 2).record(&recorder) }
        Owned.setElements(0, [one]).record(&recorder)
        Owned.setElements(1, [.null]).record(&recorder)
        Owned.setElements(1, [.null]).record(&recorder)
        Owned.moveElements(1, 2, 3).record(&recorder)
        Owned.insertElements(8, 1, [one]).record(&recorder)
        Owned.collection(2, 10, 301, 2).record(&recorder)
        Owned.insertElements(9, 1, [.bytes([65]), .null]).record(&recorder)
        Owned.delete(7, 0).record(&recorder)
        Owned.collection(2, 10, 301, 2).record(&recorder)
        Owned.collection(2, 10, 301, 1, [5, 300]).record(&recorder)
        // The flag of an operation on one element, which the next operation may extend; one on several has no flag.
        let each: UInt8 = 0x80
        let expected: [UInt8] = [
            8, 2, 20, 0xAC, 0x02, 1, 0, 9, 5, 3, 0, 0, each, 17, 2, 17, 2, 17, 2, 10, 4, 3, 0, 0, each,
            10, 4, 2, 0, 0, 0, 10, 4, 2, 0, 0, 0, 11, 0, 2, 0, 0, each, 17, 2, 0, 11, 1, 1, 0, 0, each, 0,
            12, 1, 2, 3, 9, 8, 1, 0, 0, each, 17, 2, 8, 2, 20, 0xAD, 0x02, 2, 0, 9, 9, 1, 0, 0, each, 3, 1, 65, 0,
            4, 7, 0, 8, 2, 20, 0xAD, 0x02, 2, 0, 8, 2, 20, 0xAD, 0x02, 1, 2, 5, 0xAC, 0x02,
        ]
        let bytes = Array(recorder.finish(lsn: 1))
        #expect(Array(bytes[16...]) == expected)
        // The reader skips cells that no caller reads.
        let kinds = try bytes.withUnsafeBytes { buffer in
            var reader = try ChangeReader(buffer)
            var count = 0
            while try reader.next() != nil { count += 1 }
            return count
        }
        #expect(kinds == 14)
    }

    @Test("a record as long as the limit is kept, one byte more is too large") func limit() {
        for surplus in 0...1 {
            // Code, table, key, column, tag, count (2 bytes), contents.
            var recorder = ChangeRecorder(limit: 16 + 7 + 200)
            Owned.set(1, 1, 1, .bytes([UInt8](repeating: 1, count: 200 + surplus))).record(&recorder)
            let (isTooLarge, isEmpty) = (recorder.isTooLarge, recorder.isEmpty)
            #expect(isTooLarge == (surplus == 1) && !isEmpty)
        }
        var recorder = ChangeRecorder(limit: 60_000)
        var count = 0
        while !recorder.isTooLarge {
            let byteCount = recorder.byteCount
            #expect(byteCount <= 60_000)
            Owned.insert(1, Int64(count), [1, 2], [.integer(.max), .bytes([1, 2, 3])]).record(&recorder)
            count += 1
        }
        #expect(count > 60_000 / 17 - 10)
        Owned.delete(1, 1).record(&recorder)
        Owned.schema([1]).record(&recorder)
        let staysTooLarge = recorder.isTooLarge
        recorder.reset()
        let startsAnew = !recorder.isTooLarge && recorder.isEmpty
        #expect(staysTooLarge && startsAnew)
        Owned.delete(1, 1).record(&recorder)
        let byteCount = recorder.byteCount
        #expect(byteCount == 19)
    }

    @Test("a record cut at any byte, or with any byte changed, is read within its bounds", arguments: 0..<10)
    func damage(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var recorder = ChangeRecorder(limit: 1 << 20)
        for _ in 0..<20 { Owned.random(&generator).record(&recorder) }
        for _ in 0..<5 { for operation in Owned.randomElements(&generator) { operation.record(&recorder) } }
        let bytes = Array(recorder.finish(lsn: 1))
        for count in 0..<min(bytes.count, 2000) {
            #expect(throws: StorageError.self) { try bytes[..<count].withUnsafeBytes { _ = try read($0) } }
        }
        for position in 16..<min(bytes.count, 2000) {
            // An allocation of exactly this size, so that a sanitizer sees a read past its end.
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { copy.deallocate() }
            copy.copyBytes(from: bytes)
            copy[position] ^= UInt8.random(in: 1...255, using: &generator)
            do { _ = try read(UnsafeRawBufferPointer(copy)) } catch {
                guard case StorageError.corrupt(_, let offset, .structure) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(offset <= bytes.count)
            }
        }
    }

    @Test("an overlong number, a row without columns and an unknown code are corrupt") func malformed() {
        let cases: [[UInt8]] = [
            [5] + [UInt8](repeating: 0x80, count: 10) + [1], [5, 255, 255, 255, 255, 31], [2, 0], [8], [0],
            // Operations on elements before any collection is named; a collection with three cells an element; one
            // whose places are missing; one that is nested too deep; and operations with more elements than follow.
            [9, 0, 0, 0, 0, 0], [8, 1, 0, 1, 3, 0], [8, 1, 0, 1, 1, 1],
            [8, 1, 0, 1, 1, 101] + [UInt8](repeating: 0, count: 101), [8, 1, 0, 1, 1, 0, 9, 0, 2, 0, 0, 0, 0],
            [8, 1, 0, 1, 1, 0, 4, 1, 0, 10, 0, 1, 0, 0, 0],
            [1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], [3, 1, 1, 1, 25, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        for operations in cases {
            let record = [UInt8(16 + operations.count)] + [UInt8](repeating: 0, count: 15) + operations
            #expect(throws: StorageError.self, "\(operations)") { try record.withUnsafeBytes { _ = try read($0) } }
        }
    }

    @Test("the records of a batch come one by one, and must match its count") func sequence() throws {
        var payload: [UInt8] = []
        for lsn in 5...7 as ClosedRange<UInt64> {
            var recorder = ChangeRecorder(limit: 1000)
            recorder.delete(TableID(1), RowKey(Int64(lsn)))
            payload += Array(recorder.finish(lsn: lsn))
        }
        func keys(_ bytes: [UInt8], _ first: UInt64, _ last: UInt64) throws -> [Owned] {
            try bytes.withUnsafeBytes { buffer in
                var records = RecordSequence(buffer, firstLSN: first, lastLSN: last)
                var result: [Owned] = []
                while let record = try records.next() { result += try read(record) }
                return result
            }
        }
        #expect(try keys(payload, 5, 7) == [.delete(1, 5), .delete(1, 6), .delete(1, 7)])
        for (first, last) in [(5, 6), (5, 8), (4, 7), (6, 7)] as [(UInt64, UInt64)] {
            #expect(throws: StorageError.self) { try keys(payload, first, last) }
        }
        for count in 0..<payload.count {
            #expect(throws: StorageError.self) { try keys(Array(payload[..<count]), 5, 7) }
        }
    }
}
