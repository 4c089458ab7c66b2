/// A decimal number as the object layer keeps it: 16 bytes, IEEE 754 decimal128 with a binary coefficient,
/// little-endian (docs/file-format-objects.md).
package enum DecimalBytes {
    /// - Returns: nil for text that is not a number, or has more than 34 digits.
    package static func bytes(_ text: String) -> [UInt8]? {
        var isNegative = false
        var exponent = 0
        /// Without leading zeros.
        var digits: [UInt8] = []
        var hasPoint = false
        var hasDigit = false
        var rest = text.utf8[...]
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            rest = rest.dropFirst()
        }
        while let byte = rest.first {
            if byte >= 48, byte <= 57 {
                hasDigit = true
                if !digits.isEmpty || byte != 48 { digits.append(byte) }
                if hasPoint { exponent -= 1 }
            } else if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
                guard let power = Int(String(decoding: rest.dropFirst(), as: UTF8.self)),
                    (-100_000...100_000).contains(power)
                else { return nil }
                exponent += power
                break
            } else {
                return nil
            }
            rest = rest.dropFirst()
        }
        while digits.count > 34, digits.last == 48 {
            digits.removeLast()
            exponent += 1
        }
        guard digits.count <= 34 else { return nil }
        let coefficient = digits.reduce(0 as UInt128) { $0 * 10 + UInt128($1 - 48) }
        guard hasDigit, (-6176...6111).contains(exponent) else { return nil }
        var bits = UInt128(UInt(exponent + 6176)) << 113 | coefficient
        if isNegative { bits |= 1 << 127 }
        return withUnsafeBytes(of: bits.littleEndian) { Array($0) }
    }

    /// A double in the fewest digits that parse to the same value; 3.0 is 3.
    package static func bytes(_ value: Double) -> [UInt8]? {
        guard value.isFinite else { return nil }
        let text = "\(value)"
        return bytes(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}
