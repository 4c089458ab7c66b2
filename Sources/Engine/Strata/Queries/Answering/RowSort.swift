import StrataStorage

/// Sorts rows by some properties. The sort is stable.
///
/// The order: null first, then values; numbers by value with NaN before all others and both zeros equal; text by its
/// Unicode scalars unless the descriptor says otherwise; data byte by byte; booleans false first; objects by key. It is
/// the same on every machine and in every locale. Descending is the exact reverse, but equal rows still keep their
/// order.
struct RowSort {
    private let instance: RealmInstance
    private let access: ClassAccess
    private let columns: [(reader: ColumnReader, descriptor: SortDescriptor)]

    /// Stops the program if a descriptor does not suit the class.
    init(_ instance: RealmInstance, _ access: ClassAccess, _ descriptors: [SortDescriptor]) {
        self.instance = instance
        self.access = access
        do throws(RealmError) {
            var columns: [(reader: ColumnReader, descriptor: SortDescriptor)] = []
            for descriptor in descriptors {
                columns.append((try ColumnReader(instance, access, descriptor.keyPath, to: "sort by"), descriptor))
            }
            self.columns = columns
        } catch {
            fatalError(error.description)
        }
    }

    /// - Complexity: O(n) for numbers, O(n log n) for text, and the reads.
    func sorted(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64] {
        guard keys.count > 1 else { return keys }
        var order = (0..<UInt32(truncatingIfNeeded: keys.count)).map { $0 }
        #if Zoo
            if PlantedMistake.sortUnstable.isPlanted { order.reverse() }
        #endif
        #if Zoo
            let columns = PlantedMistake.sortByFirst.isPlanted ? Array(columns.prefix(1)) : columns
        #endif
        // From the last descriptor to the first: each sort is stable.
        for (reader, descriptor) in columns.reversed() {
            var column = SortColumn(count: keys.count, descriptor.order)
            try reader.forEach(keys, view) { column.append($0) }
            column.sort(&order, ascending: descriptor.ascending)
        }
        return order.map { keys[Int($0)] }
    }
}

extension RowSort {
    /// ``sorted(_:_:)`` in a damaged file: an unreadable value counts as null.
    /// - Parameter failed: called for each such row.
    func sortedPastDamage(
        _ keys: [Int64], _ view: ReadView, _ failed: (StorageError, Int64) -> Void
    ) -> [Int64] {
        var order = (0..<UInt32(truncatingIfNeeded: keys.count)).map { $0 }
        for (reader, descriptor) in columns.reversed() {
            var column = SortColumn(count: keys.count, descriptor.order)
            for key in keys {
                do throws(StorageError) {
                    try reader.forEach([key], view, rowByRow: true) { column.append($0) }
                } catch {
                    failed(error, key)
                    column.append(.null)
                }
            }
            column.sort(&order, ascending: descriptor.ascending)
        }
        return order.map { keys[Int($0)] }
    }
}

/// The values of one property, in a form that sorts fast.
struct SortColumn {
    /// Integers that order as the values; for text and data, their first eight bytes. Zero for null.
    private var words: [UInt64] = []
    private var isNull: [Bool] = []
    private var hasNulls = false
    /// For text and data: all bytes one after another, and the end of each value.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private let order: TextOrder
    /// For orders that compare strings.
    private var texts: [String] = []
    /// Values that fit neither words nor bytes.
    private var others: [_StoredValue] = []

    init(count: Int, _ order: TextOrder) {
        self.order = order
        words.reserveCapacity(count)
        isNull.reserveCapacity(count)
    }

    mutating func append(_ value: ColumnReader.Value) {
        switch value {
        case .null:
            hasNulls = true
            return append(0, isNull: true)
        case .integer(let value): append(UInt64(bitPattern: value) ^ 1 << 63, isNull: false)
        case .double(let value): append(value.orderedBits, isNull: false)
        case .other(let value):
            while others.count < words.count { others.append(.null) }
            others.append(value)
            append(0, isNull: false)
        case .bytes(let value):
            switch order.kind {
            case .scalars: append(value)
            case .folded(let options): TextFolding.fold(value, options).withUnsafeBytes { append($0) }
            case .custom:
                while texts.count < words.count { texts.append("") }
                texts.append(String(decoding: value, as: UTF8.self))
                append(0, isNull: false)
            }
        }
    }

    private mutating func append(_ word: UInt64, isNull null: Bool) {
        words.append(word)
        isNull.append(null)
    }

    private mutating func append(_ value: UnsafeRawBufferPointer) {
        while ends.count < words.count { ends.append(bytes.count) }
        var word: UInt64 = 0
        for place in 0..<8 { word = word << 8 | (place < value.count ? UInt64(value[place]) : 0) }
        bytes.append(contentsOf: value)
        append(word, isNull: false)
        ends.append(bytes.count)
    }

    /// Sorts places, which index the values appended so far. The sort is stable; nulls come first, or last if
    /// descending.
    mutating func sort(_ places: inout [UInt32], ascending: Bool) {
        if !others.isEmpty {
            sortOthers(&places, ascending)
        } else if !texts.isEmpty {
            sortTexts(&places, ascending)
        } else {
            RadixSort.sort(&places, by: words, ascending: ascending)
            if !ends.isEmpty { sortTies(&places, ascending) }
        }
        guard hasNulls else { return }
        let nulls = places.filter { isNull[Int($0)] }
        let others = places.filter { !isNull[Int($0)] }
        places = ascending ? nulls + others : others + nulls
    }

    /// Values of several types: booleans, numbers, text, then each other type in its own order.
    private func sortOthers(_ places: inout [UInt32], _ ascending: Bool) {
        let notANumber = 1
        func rank(_ value: _StoredValue) -> Int {
            if let number = value.number { return number.isNaN ? notANumber : 2 }
            switch value {
            case .bytes(let bytes) where bytes.first == PropertyType.bool.rawValue: return 0
            case .text: return 3
            case .bytes: return 4
            default: return 5
            }
        }
        let others = others + Array(repeating: .null, count: max(0, words.count - others.count))
        let ordered = places.enumerated().sorted { a, b in
            let first = others[Int(a.element)]
            let second = others[Int(b.element)]
            let ranks = (rank(first), rank(second))
            if ranks.0 != ranks.1 { return (ranks.0 < ranks.1) == ascending }
            if ranks.0 != notANumber, _StoredValue.precedes(first, second) { return ascending }
            if ranks.0 != notANumber, _StoredValue.precedes(second, first) { return !ascending }
            return a.offset < b.offset
        }
        places = ordered.map(\.element)
    }

    private func sortTexts(_ places: inout [UInt32], _ ascending: Bool) {
        guard case .custom(let comparison) = order.kind else { return }
        let texts = texts + Array(repeating: "", count: max(0, words.count - texts.count))
        // The sort of the standard library is not guaranteed to be stable, so places decide between equals.
        let ranks = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
        places.sort { a, b in
            let first = texts[Int(a)]
            let second = texts[Int(b)]
            if ascending ? comparison.areInOrder(first, second) : comparison.areInOrder(second, first) { return true }
            if ascending ? comparison.areInOrder(second, first) : comparison.areInOrder(first, second) { return false }
            return ranks[a, default: 0] < ranks[b, default: 0]
        }
    }

    /// Sorts the places whose first eight bytes are equal.
    private mutating func sortTies(_ places: inout [UInt32], _ ascending: Bool) {
        while ends.count < words.count { ends.append(bytes.count) }
        let words = words
        var start = 0
        while start < places.count {
            var end = start + 1
            let word = words[Int(places[start])]
            while end < places.count, words[Int(places[end])] == word { end += 1 }
            if end - start > 1 { sortTie(&places, start..<end, behind: 8, ascending) }
            start = end
        }
    }

    private func range(_ place: UInt32) -> Range<Int> {
        (place == 0 ? 0 : ends[Int(place) - 1])..<ends[Int(place)]
    }

    /// Sorts places whose values share their first `offset` bytes, or all that they have.
    private func sortTie(_ places: inout [UInt32], _ tied: Range<Int>, behind offset: Int, _ ascending: Bool) {
        let length = range(places[tied.lowerBound]).count
        let isDecided = length <= offset && places[tied].allSatisfy { range($0).count == length }
        if isDecided { return }
        guard tied.count > 64, offset < 512 else { return compareTie(&places, tied, ascending) }
        let members = Array(places[tied])
        let chunks = members.map { chunk($0, offset) }
        var order = (0..<UInt32(truncatingIfNeeded: members.count)).map { $0 }
        RadixSort.sort(&order, by: chunks, ascending: ascending)
        for (index, member) in order.enumerated() { places[tied.lowerBound + index] = members[Int(member)] }
        var start = 0
        while start < order.count {
            var end = start + 1
            while end < order.count, chunks[Int(order[end])] == chunks[Int(order[start])] { end += 1 }
            let part = (tied.lowerBound + start)..<(tied.lowerBound + end)
            if part.count > 1 { sortTie(&places, part, behind: offset + 8, ascending) }
            start = end
        }
    }

    /// Eight bytes of a value as a word, filled up with zeros.
    private func chunk(_ place: UInt32, _ offset: Int) -> UInt64 {
        let range = range(place)
        var word: UInt64 = 0
        for at in (range.lowerBound + offset)..<(range.lowerBound + offset + 8) {
            word = word << 8 | (at < range.upperBound ? UInt64(bytes[at]) : 0)
        }
        return word
    }

    private func compareTie(_ places: inout [UInt32], _ range: Range<Int>, _ ascending: Bool) {
        bytes.withUnsafeBytes { bytes in
            var tied = places[range].enumerated().map { (rank: $0, place: $1) }
            tied.sort { a, b in
                let order = TextSearch.order(
                    UnsafeRawBufferPointer(rebasing: bytes[self.range(a.place)]),
                    UnsafeRawBufferPointer(rebasing: bytes[self.range(b.place)]))
                if order != 0 { return ascending ? order < 0 : order > 0 }
                return a.rank < b.rank
            }
            for (offset, element) in tied.enumerated() { places[range.lowerBound + offset] = element.place }
        }
    }
}

/// Sorts by unsigned words without comparing them: a pass per byte in which they differ.
enum RadixSort {
    /// Sorts `places`, which index `words`, by these words. The sort is stable.
    /// - Complexity: O(n) per byte that differs; O(n log n) for fewer than 256 places.
    static func sort(_ places: inout [UInt32], by words: [UInt64], ascending: Bool) {
        let flip: UInt64 = ascending ? 0 : .max
        if places.count < 256 {
            let ranked = places.enumerated().sorted { a, b in
                let first = words[Int(a.element)] ^ flip
                let second = words[Int(b.element)] ^ flip
                return first == second ? a.offset < b.offset : first < second
            }
            places = ranked.map(\.element)
            return
        }
        var differing: UInt64 = 0
        let sample = words[Int(places[0])]
        for place in places { differing |= words[Int(place)] ^ sample }
        if differing == 0 { return }
        var pairs = places.map { (word: words[Int($0)] ^ flip, place: $0) }
        var other = pairs
        for shift in stride(from: UInt64(0), to: 64, by: 8) where differing >> shift & 0xFF != 0 {
            pass(pairs, into: &other, shift)
            swap(&pairs, &other)
        }
        for (index, pair) in pairs.enumerated() { places[index] = pair.place }
    }

    private static func pass(
        _ from: [(word: UInt64, place: UInt32)], into target: inout [(word: UInt64, place: UInt32)], _ shift: UInt64
    ) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { starts in
            starts.update(repeating: 0)
            from.withUnsafeBufferPointer { from in
                for pair in from { starts[Int(pair.word >> shift & 0xFF)] += 1 }
                var sum = 0
                for digit in 0..<256 {
                    let count = starts[digit]
                    starts[digit] = sum
                    sum += count
                }
                target.withUnsafeMutableBufferPointer { target in
                    for pair in from {
                        let digit = Int(pair.word >> shift & 0xFF)
                        target[starts[digit]] = pair
                        starts[digit] += 1
                    }
                }
            }
        }
    }
}
