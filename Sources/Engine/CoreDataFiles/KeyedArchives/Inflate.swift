/// The reader of raw deflate, RFC 1951. Any input gives a result or nil, in bounded memory.
package enum Inflate {
    /// - Parameter limit: the largest output in bytes; a model has some tens of thousands.
    /// - Returns: nil for input that is not deflate, is truncated, or exceeds `limit`.
    package static func bytes(_ input: [UInt8], limit: Int = 64 << 20) -> [UInt8]? {
        var reader = Reader(input: input, limit: limit)
        return reader.run() ? reader.output : nil
    }

    /// A canonical Huffman code: the number of codes by length, and the symbols ordered by code.
    private struct Codes {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        /// nil for an oversubscribed set of code lengths.
        init?(_ lengths: ArraySlice<UInt8>) {
            for length in lengths { counts[Int(length)] += 1 }
            counts[0] = 0
            var left = 1
            for length in 1...15 {
                left = left * 2 - counts[length]
                if left < 0 { return nil }
            }
            var offsets = [Int](repeating: 0, count: 16)
            for length in 1..<15 { offsets[length + 1] = offsets[length] + counts[length] }
            symbols = [Int](repeating: 0, count: lengths.count)
            for (symbol, length) in lengths.enumerated() where length != 0 {
                symbols[offsets[Int(length)]] = symbol
                offsets[Int(length)] += 1
            }
        }
    }

    private struct Reader {
        let input: [UInt8]
        let limit: Int
        var output: [UInt8] = []
        private var place = 0
        private var held: UInt32 = 0
        private var heldCount = 0

        init(input: [UInt8], limit: Int) {
            self.input = input
            self.limit = limit
        }

        mutating func run() -> Bool {
            while true {
                guard let last = bits(1), let kind = bits(2) else { return false }
                let isRight: Bool
                switch kind {
                case 0: isRight = stored()
                case 1: isRight = fixed()
                case 2: isRight = dynamic()
                default: isRight = false
                }
                if !isRight { return false }
                if last == 1 { return true }
            }
        }

        private mutating func bits(_ count: Int) -> Int? {
            while heldCount < count {
                guard place < input.count else { return nil }
                held |= UInt32(input[place]) << UInt32(heldCount)
                place += 1
                heldCount += 8
            }
            let value = held & ((1 << UInt32(count)) - 1)
            held >>= UInt32(count)
            heldCount -= count
            return Int(value)
        }

        private mutating func symbol(_ codes: Codes) -> Int? {
            var code = 0
            var first = 0
            var index = 0
            for length in 1...15 {
                guard let bit = bits(1) else { return nil }
                code |= bit
                let count = codes.counts[length]
                if code - count < first { return codes.symbols[index + code - first] }
                index += count
                first = (first + count) << 1
                code <<= 1
            }
            return nil
        }

        private mutating func stored() -> Bool {
            (held, heldCount) = (0, 0)
            guard input.count - place >= 4 else { return false }
            let count = Int(input[place]) | Int(input[place + 1]) << 8
            let check = Int(input[place + 2]) | Int(input[place + 3]) << 8
            place += 4
            guard count == ~check & 0xFFFF, count <= input.count - place, output.count + count <= limit else {
                return false
            }
            output.append(contentsOf: input[place..<place + count])
            place += count
            return true
        }

        private mutating func fixed() -> Bool {
            var lengths = [UInt8](repeating: 8, count: 288)
            for symbol in 144..<256 { lengths[symbol] = 9 }
            for symbol in 256..<280 { lengths[symbol] = 7 }
            guard let texts = Codes(lengths[...]), let distances = Codes([UInt8](repeating: 5, count: 30)[...]) else {
                return false
            }
            return block(texts, distances)
        }

        private mutating func dynamic() -> Bool {
            guard let texts = bits(5), let distances = bits(5), let given = bits(4), texts <= 29, distances <= 29 else {
                return false
            }
            let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
            var small = [UInt8](repeating: 0, count: 19)
            for place in 0..<given + 4 {
                guard let length = bits(3) else { return false }
                small[order[place]] = UInt8(length)
            }
            guard let codes = Codes(small[...]) else { return false }
            let total = texts + 257 + distances + 1
            var lengths: [UInt8] = []
            while lengths.count < total {
                guard let next = symbol(codes) else { return false }
                if next < 16 {
                    lengths.append(UInt8(next))
                    continue
                }
                let again: UInt8 = next == 16 ? (lengths.last ?? 255) : 0
                guard again < 16, let more = bits(next == 16 ? 2 : next == 17 ? 3 : 7) else { return false }
                let count = more + (next == 18 ? 11 : 3)
                guard lengths.count + count <= total else { return false }
                lengths.append(contentsOf: repeatElement(again, count: count))
            }
            guard lengths[256] != 0, let first = Codes(lengths[..<(texts + 257)]),
                let second = Codes(lengths[(texts + 257)...])
            else { return false }
            return block(first, second)
        }

        private mutating func block(_ texts: Codes, _ distances: Codes) -> Bool {
            while true {
                guard let symbol = symbol(texts) else { return false }
                if symbol == 256 { return true }
                if symbol < 256 {
                    guard output.count < limit else { return false }
                    output.append(UInt8(symbol))
                    continue
                }
                guard let count = length(symbol - 257), let distance = distance(distances),
                    distance <= output.count, output.count + count <= limit
                else { return false }
                for _ in 0..<count { output.append(output[output.count - distance]) }
            }
        }

        private mutating func length(_ code: Int) -> Int? {
            guard code <= 28 else { return nil }
            if code < 8 { return code + 3 }
            if code == 28 { return 258 }
            let extra = (code - 4) / 4
            guard let more = bits(extra) else { return nil }
            return ((code & 3) + 4) << extra + 3 + more
        }

        private mutating func distance(_ codes: Codes) -> Int? {
            guard let code = symbol(codes), code <= 29 else { return nil }
            if code < 4 { return code + 1 }
            let extra = (code - 2) / 2
            guard let more = bits(extra) else { return nil }
            return ((code & 1) + 2) << extra + 1 + more
        }
    }
}
