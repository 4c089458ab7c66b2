/// A value in the form that `distinct` compares. Two values of one type are equal if a query finds them equal; null is
/// one value, and so is NaN.
///
/// Text is compared by its bytes: Swift's equality of strings identifies composed and decomposed accents.
enum DistinctValue: Hashable {
    case null
    case integer(Int64)
    case double(UInt64)
    case bytes([UInt8])
    case decimal(Decimal128)

    init(_ value: _StoredValue) {
        switch value {
        case .null: self = .null
        case .integer(let value), .link(let value): self = .integer(value)
        case .double(let value): self = .double(value.orderedBits)
        case .text(let text): self = .bytes(Array(text.utf8))
        case .bytes(let bytes): self = .bytes(bytes)
        case .decimal(let value): self = .decimal(value)
        }
    }
}

extension Double {
    /// The order of doubles as one of unsigned integers: NaN first, both zeros equal.
    var orderedBits: UInt64 {
        if isNaN { return 0 }
        let bits = (self == 0 ? 0.0 : self).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}
