/// A neutral form of values that a store and a new file represent differently.
enum CanonicalValues {
    /// A decimal number as sign, digits and power of ten: digits have no zero at either end; zero has no digits.
    struct Decimal: Equatable {
        var isNegative = false
        var digits: [UInt8] = []
        var power = 0

        /// From text such as `-12.50` or `1.25e3`; nil for anything else.
        init?(text: String) {
            var (body, exponent) = (Substring(text), Substring())
            if let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }) {
                (body, exponent) = (text[..<mark], text[text.index(after: mark)...])
                guard let value = Int(exponent), (-100_000...100_000).contains(value) else { return nil }
                power = value
            }
            if let sign = body.first, sign == "-" || sign == "+" {
                isNegative = sign == "-"
                body = body.dropFirst()
            }
            let parts = body.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard let whole = parts.first else { return nil }
            let fraction = parts.count == 2 ? parts[1] : ""
            let all = Array((whole + fraction).utf8)
            guard !all.isEmpty, all.allSatisfy({ (48...57).contains($0) }) else { return nil }
            power -= fraction.utf8.count
            digits = all.map { $0 - 48 }
            trim()
        }

        /// From the 16 bytes of docs/file-format-objects.md.
        init?(bytes: UnsafeRawBufferPointer) {
            guard bytes.count == 16 else { return nil }
            var low: UInt64 = 0
            var high: UInt64 = 0
            for place in (0..<8).reversed() { low = low << 8 | UInt64(bytes[place]) }
            for place in (8..<16).reversed() { high = high << 8 | UInt64(bytes[place]) }
            isNegative = high >> 63 == 1
            power = Int(high >> 49 & 0x3FFF) - 6176
            // The coefficient has 113 bits: long division by ten, of two words.
            high &= 1 << 49 - 1
            while high > 0 || low > 0 {
                let top = high.quotientAndRemainder(dividingBy: 10)
                let bottom = (10 as UInt64).dividingFullWidth((top.remainder, low))
                digits.append(UInt8(bottom.remainder))
                (high, low) = (top.quotient, bottom.quotient)
            }
            digits.reverse()
            trim()
        }

        private mutating func trim() {
            digits = Array(digits.drop { $0 == 0 })
            while digits.last == 0 {
                digits.removeLast()
                power += 1
            }
            if digits.isEmpty { power = 0 }
        }
    }

    /// A value of any type, from the bytes of docs/file-format-objects.md; nil for invalid bytes.
    static func value(_ bytes: UnsafeRawBufferPointer, depth: Int = 0) -> KeyedArchive.Plain? {
        guard let kind = bytes.first else { return .null }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch (kind, rest.count) {
        case (0, 8): return .integer(Int64(bitPattern: word(rest)))
        case (1, 1): return .bool(rest[0] != 0)
        case (2, _): return .string(String(decoding: rest, as: UTF8.self))
        case (3, _): return .data(Array(rest))
        case (4, 8): return .date(Double(bitPattern: word(rest)))
        case (6, 8): return .real(Double(bitPattern: word(rest)))
        case (12, 16): return .uuid(Array(rest))
        case (13, 0): return .array([])
        case (13, _) where depth < 100: return elements(rest, depth + 1).map { .array($0) }
        case (14, 0): return .dictionary([:])
        case (14, _) where depth < 100: return members(rest, depth + 1)
        default: return nil
        }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    private static func count(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int? {
        guard place >= 0, bytes.count - place >= 4 else { return nil }
        return Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }

    /// The encoding of a list: its kind, whether a bitmap of nulls follows, the count, the ends of the elements.
    private static func parts(_ list: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer?]? {
        guard list.count >= 6, list[0] == 6 || list[0] == 7, list[1] <= 1, let number = count(list, 2),
            number <= list.count
        else { return nil }
        let bitmap = list[1] == 1 ? (number + 7) / 8 : 0
        let table = 6 + bitmap
        let start = table + 4 * (number + 1)
        guard start <= list.count else { return nil }
        var parts: [UnsafeRawBufferPointer?] = []
        for index in 0..<number {
            guard let from = count(list, table + 4 * index), let to = count(list, table + 4 * index + 4), from <= to,
                to <= list.count - start
            else { return nil }
            let isAbsent = bitmap > 0 && list[6 + index / 8] >> UInt8(index % 8) & 1 == 1
            parts.append(isAbsent ? nil : UnsafeRawBufferPointer(rebasing: list[start + from..<start + to]))
        }
        return parts
    }

    private static func elements(_ list: UnsafeRawBufferPointer, _ depth: Int) -> [KeyedArchive.Plain]? {
        guard let parts = parts(list) else { return nil }
        var values: [KeyedArchive.Plain] = []
        for part in parts {
            guard let part else {
                values.append(.null)
                continue
            }
            guard let value = value(part, depth: depth) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func members(_ bytes: UnsafeRawBufferPointer, _ depth: Int) -> KeyedArchive.Plain? {
        guard let size = count(bytes, 0), size <= bytes.count - 4,
            let keys = parts(UnsafeRawBufferPointer(rebasing: bytes[4..<4 + size])),
            let values = elements(UnsafeRawBufferPointer(rebasing: bytes[(4 + size)...]), depth),
            keys.count == values.count
        else { return nil }
        var members: [String: KeyedArchive.Plain] = [:]
        for (key, value) in zip(keys, values) {
            guard let key else { return nil }
            members[String(decoding: key, as: UTF8.self)] = value
        }
        return .dictionary(members)
    }
}

extension RowHash {
    mutating func add(_ number: CanonicalValues.Decimal) {
        add(kind: number.isNegative ? 2 : 1)
        add(integer: Int64(number.power))
        number.digits.withUnsafeBytes { add(bytes: $0) }
    }

    mutating func add(_ value: KeyedArchive.Plain) {
        switch value {
        case .null: addNull()
        case .bool(let flag):
            add(kind: 3)
            add(integer: flag ? 1 : 0)
        case .integer(let number): add(integer: number)
        case .real(let number): add(double: number)
        case .date(let seconds):
            add(kind: 4)
            add(double: seconds)
        case .data(let bytes): bytes.withUnsafeBytes { add(bytes: $0) }
        case .string(let text):
            add(kind: 5)
            Array(text.utf8).withUnsafeBytes { add(bytes: $0) }
        case .uuid(let bytes):
            add(kind: 6)
            bytes.withUnsafeBytes { add(bytes: $0) }
        case .array(let values):
            add(kind: 7)
            add(integer: Int64(values.count))
            for value in values { add(value) }
        case .dictionary(let members):
            add(kind: 8)
            add(integer: Int64(members.count))
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                add(.string(name))
                add(value)
            }
        }
    }
}
