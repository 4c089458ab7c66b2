internal import CXXHash

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Hashes of records; equal records of both stores have equal hashes.
///
/// Each value is encoded as a byte for its kind and its bytes, with a length first if it is variable. So null, 0 and ""
/// differ, as do "ab", "c" and "a", "bc". All bits of a number count, including the sign of a zero and the payload of a
/// NaN.
struct RecordHash {
    private var bytes: [UInt8] = []
    private let model: RecordModel
    private let isUnordered: [Bool]

    init(_ model: RecordModel) {
        self.model = model
        isUnordered = model.fields.map { field in
            if case .links(_, let isOrdered) = field.kind { return !isOrdered }
            return false
        }
        bytes.reserveCapacity(256)
    }

    /// - Parameter values: in the order of the model's fields.
    mutating func hash(_ values: [FieldValue]) -> UInt64 {
        bytes.removeAll(keepingCapacity: true)
        for place in values.indices {
            if isUnordered[place], case .links(let keys) = values[place] {
                put(.links(keys.sorted()))
            } else {
                put(values[place])
            }
        }
        return Self.hash(bytes)
    }

    mutating func hash(_ record: Record) -> UInt64 { hash(model.fields.map { record[$0.name] }) }

    static func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { XXH3_64bits($0.baseAddress, $0.count) } }

    /// The place of a record in the ranges.
    static func place(_ model: UInt64, _ key: RecordKey) -> UInt64 {
        switch key {
        case .integer(let value):
            return mix(model ^ mix(UInt64(bitPattern: value)))
        case .text(let text):
            var text = text
            return text.withUTF8 { XXH3_64bits_withSeed($0.baseAddress, $0.count, model) }
        }
    }

    /// A permutation of the integers in which each bit of the result depends on every bit of the argument.
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func put(_ value: FieldValue) {
        switch value {
        case .null:
            #if Zoo
                if PlantedMistake.hashedNullIsZero.isMade { return put(.integer(0)) }
            #endif
            bytes.append(0)
        case .integer(let value):
            bytes.append(1)
            put(UInt64(bitPattern: value))
        case .real(let value):
            bytes.append(2)
            put(value.bitPattern)
        case .text(let text):
            bytes.append(3)
            put(UInt64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        case .data(let data):
            bytes.append(4)
            put(UInt64(data.count))
            bytes.append(contentsOf: data)
        case .date(let value):
            bytes.append(5)
            put(value.bitPattern)
        case .link(let key):
            bytes.append(6)
            putKey(key)
        case .links(let keys):
            bytes.append(7)
            put(UInt64(keys.count))
            for key in keys { putKey(key) }
        }
    }

    private mutating func putKey(_ key: RecordKey) {
        switch key {
        case .integer(let value): put(.integer(value))
        case .text(let text): put(.text(text))
        }
    }

    private mutating func put(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
