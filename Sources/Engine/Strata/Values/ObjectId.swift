import Platform
import StrataFiles
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A 12-byte identifier that sorts by the second of its creation.
///
/// Layout: seconds since 1970 (4 bytes, big-endian), 5 random bytes of the process, a counter (3 bytes, big-endian).
///
///     let id = ObjectId.generate()
///     let same = try ObjectId(string: id.stringValue)
public struct ObjectId: Hashable, Comparable, Sendable, CustomStringConvertible, Codable {
    private var high: UInt64
    private var low: UInt32

    private static let process = ProcessBits()
    /// The counter's random start.
    private static let start = ProcessBits()
    private static let counter = Atomic<UInt32>(0)

    /// All zeroes.
    public init() {
        high = 0
        low = 0
    }

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Unique across processes and machines with the probability given by 40 random bits and a counter. A forked child
    /// has random bits of its own.
    public static func generate() -> ObjectId {
        let seconds = UInt64(UInt32(truncatingIfNeeded: time(nil)))
        let process = process.value
        return ObjectId(high: seconds << 32 | process >> 8, low: UInt32(process & 0xFF) << 24 | nextCount())
    }

    /// - Throws: ``Realm/Error`` with `invalidInput` if `string` is not 24 hexadecimal digits.
    public init(string: String) throws {
        let digits = Array(string.utf8)
        guard digits.count == 24 else { throw Self.malformed(string) }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 24, by: 2) {
            guard let a = Self.digit(digits[place]), let b = Self.digit(digits[place + 1]) else {
                throw Self.malformed(string)
            }
            bytes.append(a << 4 | b)
        }
        guard let made = ObjectId(bytes: bytes) else { throw Self.malformed(string) }
        self = made
    }

    /// A literal of 24 hexadecimal digits; stops the program for any other: it is an error of the program.
    public init(_ string: StaticString) {
        let text = string.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        guard let made = ObjectId(text: text) else { fatalError(Self.malformed(text).description) }
        self = made
    }

    /// Made of a second, a machine (the lower three bytes of its id), a process (the lower two), and a counter that
    /// makes it unique.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        let seconds = UInt64(UInt32(truncatingIfNeeded: Int64(timestamp.timeIntervalSince1970)))
        let maker =
            UInt64(truncatingIfNeeded: machineId & 0xFF_FFFF) << 16 | UInt64(truncatingIfNeeded: processId & 0xFFFF)
        self.init(high: seconds << 32 | maker >> 8, low: UInt32(maker & 0xFF) << 24 | Self.nextCount())
    }

    /// The second of its creation.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(high >> 32)) }

    private static func nextCount() -> UInt32 {
        (UInt32(truncatingIfNeeded: start.value) &+ counter.wrappingAdd(1, ordering: .relaxed).newValue) & 0xFF_FFFF
    }

    /// Nil if the text is not 24 hexadecimal digits.
    init?(text: String) {
        do { try self.init(string: text) } catch { return nil }
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 12 else { return nil }
        high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
    }

    var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * UInt64($0))) }
            + (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * UInt32($0))) }
    }

    /// 24 lower-case hexadecimal digits.
    public var stringValue: String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    public var description: String { stringValue }

    public static func < (a: ObjectId, b: ObjectId) -> Bool { (a.high, a.low) < (b.high, b.low) }

    public init(from decoder: any Decoder) throws {
        try self.init(string: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: return character - 0x30
        case 0x41...0x46: return character - 0x41 + 10
        case 0x61...0x66: return character - 0x61 + 10
        default: return nil
        }
    }

    private static func malformed(_ string: String) -> RealmError {
        RealmError(.invalidInput, "'\(string)' is not an ObjectId: 24 hexadecimal digits are needed")
    }
}
