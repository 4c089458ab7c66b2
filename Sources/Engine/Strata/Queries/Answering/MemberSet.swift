/// The constants of an IN as sets: membership is one look-up, however many they are.
///
/// It agrees with `==` against each constant: numbers of different types by value, text by its bytes, or folded as the
/// options say, NaN never.
final class MemberSet: Sendable {
    private let hasNull: Bool
    private let texts: Set<[UInt8]>
    private let bytes: Set<[UInt8]>
    private let integers: Set<Int64>
    private let links: Set<Int64>
    /// Doubles, by their order, and integers as the doubles that they compare as.
    private let doubles: Set<UInt64>
    private let roundedIntegers: Set<UInt64>
    private let decimals: Set<Decimal128>
    /// Integers and doubles as the decimals that they compare as.
    private let roundedNumbers: Set<Decimal128>
    private let options: TextOptions

    /// Up to this number, constants are compared one by one.
    static let few = 8

    /// - Parameter type: the type of the tested values, if known.
    /// - Complexity: O(constants).
    init(_ constants: [_StoredValue], _ options: TextOptions, _ type: PropertyType?) {
        var (hasNull, texts, bytes) = (false, Set<[UInt8]>(), Set<[UInt8]>())
        var (integers, links) = (Set<Int64>(), Set<Int64>())
        var (doubles, roundedIntegers) = (Set<UInt64>(), Set<UInt64>())
        var (decimals, roundedNumbers) = (Set<Decimal128>(), Set<Decimal128>())
        let mayBeDecimal = [.decimal128, .any, nil].contains(type)
        for constant in constants {
            switch constant {
            case .null: hasNull = true
            case .text(let text): texts.insert(Self.folded(text, options))
            case .bytes(let value): bytes.insert(value)
            case .link(let key): links.insert(key)
            case .decimal(let value): decimals.insert(value)
            case .integer(let value):
                integers.insert(value)
                roundedIntegers.insert(Double(value).orderedBits)
            case .double(let value): if !value.isNaN { doubles.insert(value.orderedBits) }
            }
            if mayBeDecimal, constant.number != nil, let value = Decimal128._from(constant) {
                if case .decimal = constant { continue }
                roundedNumbers.insert(value)
            }
        }
        (self.hasNull, self.texts, self.bytes) = (hasNull, texts, bytes)
        (self.integers, self.links, self.options) = (integers, links, options)
        (self.doubles, self.roundedIntegers) = (doubles, roundedIntegers)
        (self.decimals, self.roundedNumbers) = (decimals, roundedNumbers)
    }

    private static func folded(_ text: String, _ options: TextOptions) -> [UInt8] {
        options.isEmpty ? Array(text.utf8) : TextFolding.fold(text, options)
    }

    func contains(_ value: _StoredValue) -> Bool {
        switch value {
        case .null: return hasNull
        case .text(let text): return !texts.isEmpty && texts.contains(Self.folded(text, options))
        case .bytes(let value): return bytes.contains(value)
        case .link(let key): return links.contains(key) || integers.contains(key)
        case .integer(let value):
            return integers.contains(value) || links.contains(value)
                || !doubles.isEmpty && doubles.contains(Double(value).orderedBits)
                || !decimals.isEmpty && Decimal128._from(.integer(value)).map { decimals.contains($0) } == true
        case .double(let number):
            let isNumber = !number.isNaN
            return isNumber && (doubles.contains(number.orderedBits) || roundedIntegers.contains(number.orderedBits))
                || !decimals.isEmpty && Decimal128._from(value).map { decimals.contains($0) } == true
        case .decimal(let number): return decimals.contains(number) || roundedNumbers.contains(number)
        }
    }
}
