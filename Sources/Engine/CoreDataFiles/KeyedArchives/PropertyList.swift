/// A binary property list (`bplist00`). Invalid input gives nil, no object is decoded twice, and depth and size are
/// bounded.
package struct PropertyList: Sendable {
    package enum Value: Sendable, Equatable {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001-01-01 00:00 UTC.
        case date(Double)
        case data([UInt8])
        case string(String)
        /// An index in a keyed archive's `$objects`.
        case place(Int)
        /// Numbers of objects of this list.
        case array([Int])
        /// Numbers of objects: keys and values.
        case dictionary([Int], [Int])
    }

    package let objects: [Value]
    package let top: Int

    /// The largest number of objects; a model of 1 000 entities has some 100 000.
    private static let mostObjects = 4_000_000

    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 40, Array(bytes[..<6]) == Array("bplist".utf8) else { return nil }
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8), count > 0, count <= Self.mostObjects, top < count,
            table >= 8, table <= trailer, count <= (trailer - table) / offsetSize
        else { return nil }
        let reader = Reader(bytes: bytes, end: table, referenceSize: referenceSize, count: count)
        var objects: [Value] = []
        objects.reserveCapacity(count)
        // Objects may overlap, and could expand beyond memory: all together may have four times the bytes of the list.
        var room = bytes.count * 4
        for index in 0..<count {
            guard let offset = Self.number(bytes, table + index * offsetSize, offsetSize), offset < table,
                let value = reader.value(at: offset, &room)
            else { return nil }
            objects.append(value)
        }
        self.objects = objects
        self.top = top
    }

    /// Big-endian; nil if the number does not fit an Int.
    private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int? {
        guard place >= 0, size <= bytes.count - place else { return nil }
        var value: UInt64 = 0
        for byte in bytes[place..<place + size] { value = value << 8 | UInt64(byte) }
        return Int(exactly: value)
    }

    package subscript(index: Int) -> Value { objects[index] }

    /// The members of a dictionary by name; nil for another type. Keys that are not text are left out.
    package func members(_ index: Int) -> [String: Int]? {
        guard case .dictionary(let keys, let values) = objects[index] else { return nil }
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            if case .string(let name) = objects[key] { members[name] = value }
        }
        return members
    }

    private struct Reader {
        let bytes: [UInt8]
        let end: Int
        let referenceSize: Int
        let count: Int

        func value(at offset: Int, _ room: inout Int) -> Value? {
            let low = Int(bytes[offset] & 15)
            switch bytes[offset] >> 4 {
            case 0: return low == 8 ? .bool(false) : low == 9 ? .bool(true) : .null
            case 1: return integer(offset + 1, low)
            case 2: return real(offset + 1, low).map { .real($0) }
            case 3: return real(offset + 1, low).map { .date($0) }
            case 4: return run(offset, low, width: 1, &room).map { .data(Array($0)) }
            case 5: return run(offset, low, width: 1, &room).map { .string(String(decoding: $0, as: UTF8.self)) }
            case 6: return run(offset, low, width: 2, &room).map(Self.text)
            case 8: return PropertyList.number(bytes, offset + 1, low + 1).map { .place($0) }
            case 10, 12:
                return run(offset, low, width: referenceSize, &room).flatMap(references).map { .array($0) }
            case 13:
                guard let all = run(offset, low, width: referenceSize * 2, &room).flatMap(references) else {
                    return nil
                }
                return .dictionary(Array(all[..<(all.count / 2)]), Array(all[(all.count / 2)...]))
            default: return nil
            }
        }

        private func integer(_ place: Int, _ power: Int) -> Value? {
            guard power <= 4, 1 << power <= end - place else { return nil }
            var value: UInt64 = 0
            for byte in bytes[place..<place + 1 << power] { value = value << 8 | UInt64(byte) }
            // Numbers of up to four bytes are unsigned; of sixteen bytes the low half counts.
            return .integer(Int64(bitPattern: value))
        }

        private func real(_ place: Int, _ power: Int) -> Double? {
            guard power == 2 || power == 3, 1 << power <= end - place else { return nil }
            var value: UInt64 = 0
            for byte in bytes[place..<place + 1 << power] { value = value << 8 | UInt64(byte) }
            return power == 2
                ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: value))) : Double(bitPattern: value)
        }

        /// The bytes of an object with a count.
        private func run(_ offset: Int, _ low: Int, width: Int, _ room: inout Int) -> ArraySlice<UInt8>? {
            var count = low
            var place = offset + 1
            if low == 15 {
                guard place < end, bytes[place] >> 4 == 1 else { return nil }
                let power = Int(bytes[place] & 15)
                guard power <= 3, case .integer(let number)? = integer(place + 1, power), number >= 0,
                    let wide = Int(exactly: number)
                else { return nil }
                count = wide
                place += 1 + 1 << power
            }
            guard place <= end, count <= (end - place) / width else { return nil }
            room -= count * width
            guard room >= 0 else { return nil }
            return bytes[place..<place + count * width]
        }

        private static func text(_ run: ArraySlice<UInt8>) -> Value {
            let units = stride(from: run.startIndex, to: run.endIndex, by: 2).map {
                UInt16(run[$0]) << 8 | UInt16(run[$0 + 1])
            }
            return .string(String(decoding: units, as: UTF16.self))
        }

        private func references(_ run: ArraySlice<UInt8>) -> [Int]? {
            var all: [Int] = []
            all.reserveCapacity(run.count / referenceSize)
            var place = run.startIndex
            while place < run.endIndex {
                guard let number = PropertyList.number(bytes, place, referenceSize), number < count else { return nil }
                all.append(number)
                place += referenceSize
            }
            return all
        }
    }
}
