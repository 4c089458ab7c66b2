import RunRecords
import Seeds

extension TextColumn {
    /// Appends the prefix and the number with leading zeros to at least `width` digits: `person-000042`.
    mutating func append(_ prefix: StaticString, _ number: Int, width: Int) {
        precondition(number >= 0)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number
            var first = digits.count
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            while digits.count - first < width && first > 0 {
                first -= 1
                digits[first] = UInt8(ascii: "0")
            }
            var text = Array(UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
            text.append(contentsOf: digits[first...])
            append(utf8: text)
        }
    }

    /// Appends a text of `bytes` bytes: `start`, then the hexadecimal digits of splitMix(number), splitMix(number + 1)
    /// and so on.
    mutating func append(start: [UInt8], mixed number: UInt64, bytes: Int) {
        var text = start
        text.reserveCapacity(bytes + 16)
        var next = number
        while text.count < bytes {
            let word = splitMix(next)
            next &+= 1
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                let digit = UInt8(word >> shift & 15)
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        append(utf8: text.prefix(bytes))
    }

    /// Appends the hexadecimal digits of the words, 16 each.
    mutating func append(hexadecimal words: [UInt64], digits: Int) {
        var text: [UInt8] = []
        text.reserveCapacity(words.count * 16)
        for word in words {
            for shift in stride(from: UInt64(60), through: 0, by: -4) {
                let digit = UInt8(word >> shift & 15)
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        append(utf8: text.prefix(digits))
    }
}
