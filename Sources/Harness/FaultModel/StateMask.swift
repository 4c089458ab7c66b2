/// Which parts of the unsynced work reached the disk: a bit per part, oldest first.
///
/// Written as a hexadecimal number, `0x3fa2`; a digit repeated eight times or more is written once with its count,
/// `0xf{120}2`, so that states with long runs stay readable. Each state has only one such form.
package struct StateMask: Hashable, Sendable, CustomStringConvertible {
    /// Without trailing zero words, so that equal states compare equal.
    private var words: [UInt64] = []

    package init() {}

    package init(bits: some Sequence<Int>) {
        for bit in bits { self[bit] = true }
    }

    /// All bits below `count`.
    package init(allBelow count: Int) {
        words = [UInt64](repeating: .max, count: count / 64)
        if count % 64 != 0 { words.append((1 << UInt64(count % 64)) - 1) }
    }

    package subscript(bit: Int) -> Bool {
        get {
            let word = bit / 64
            return word < words.count && words[word] >> UInt64(bit % 64) & 1 == 1
        }
        set {
            let word = bit / 64
            if newValue {
                while words.count <= word { words.append(0) }
                words[word] |= 1 << UInt64(bit % 64)
            } else if word < words.count {
                words[word] &= ~(1 << UInt64(bit % 64))
                while words.last == 0 { words.removeLast() }
            }
        }
    }

    package mutating func set(_ bits: Range<Int>, to value: Bool) {
        var start = bits.lowerBound
        while start < bits.upperBound {
            let end = min(bits.upperBound, start / 64 * 64 + 64)
            let pattern = (UInt64.max >> UInt64(64 - (end - start))) << UInt64(start % 64)
            if value {
                while words.count <= start / 64 { words.append(0) }
                words[start / 64] |= pattern
            } else if start / 64 < words.count {
                words[start / 64] &= ~pattern
            }
            start = end
        }
        while words.last == 0 { words.removeLast() }
    }

    /// One more than the index of the highest set bit.
    package var width: Int {
        guard let last = words.last else { return 0 }
        return words.count * 64 - last.leadingZeroBitCount
    }

    /// The number of set bits.
    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    package var description: String {
        let digits = (width + 3) / 4
        if digits == 0 { return "0x0" }
        var text = "0x"
        var place = digits - 1
        while place >= 0 {
            let digit = nibble(place)
            var run = 1
            while place - run >= 0, nibble(place - run) == digit { run += 1 }
            let character = String(digit, radix: 16)
            text += run >= 8 ? "\(character){\(run)}" : String(repeating: character, count: run)
            place -= run
        }
        return text
    }

    private func nibble(_ place: Int) -> UInt64 { words[place / 16] >> UInt64(place % 16 * 4) & 15 }

    /// Parses the canonical form; nil for any other text.
    /// - Parameter widthLimit: refuses counts that would take more memory than a state can have.
    package init?(_ text: some StringProtocol, widthLimit: Int = 1 << 26) {
        guard text.hasPrefix("0x") else { return nil }
        var digits: [UInt8] = []
        var rest = text.dropFirst(2)[...]
        while let character = rest.popFirst() {
            guard character.isASCII, let value = character.hexDigitValue else { return nil }
            var run = 1
            if rest.first == "{" {
                guard let end = rest.firstIndex(of: "}"),
                    let count = Int(rest[rest.index(after: rest.startIndex)..<end])
                else { return nil }
                run = count
                rest = rest[rest.index(after: end)...]
            }
            guard run >= 1, digits.count + run <= widthLimit / 4 else { return nil }
            digits.append(contentsOf: repeatElement(UInt8(value), count: run))
        }
        for (place, digit) in digits.reversed().enumerated() {
            for bit in 0..<4 where digit >> UInt8(bit) & 1 == 1 { self[place * 4 + bit] = true }
        }
        guard description == text else { return nil }
    }
}
