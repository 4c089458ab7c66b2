import StrataFiles

@testable import StrataStorage

/// What libFuzzer calls with bytes that it thinks up, and what the test of the corpus calls with those that it kept.
///
/// Whatever the bytes are, a target returns: errors are expected, anything else (a trap, a signal, a hang, a rule of
/// the store that is broken behind a check that passed) ends the process. Checksums are made right before the bytes
/// are decoded, so that what stands behind them is reached.
enum FuzzTarget: String, CaseIterable, Sendable {
    /// Header slots, plain and sealed.
    case slot
    /// Nodes of every kind, by all that reads them.
    case node
    /// Records, the groups of a log, and a store that replays them.
    case log
    /// A whole data file: opened, read in every way, checked, written to.
    case file
    /// The free map on disk, and the allocator that believes it.
    case freeMap

    func run(_ bytes: UnsafeRawBufferPointer) {
        var input = FuzzInput(bytes)
        switch self {
        case .slot: SlotFuzzing.run(&input)
        case .node: NodeFuzzing.shared.run(&input)
        case .log: LogFuzzing.run(&input)
        case .file: FileFuzzing.run(&input)
        case .freeMap: FreeMapFuzzing.run(&input)
        }
    }

    /// Valid inputs, so that the fuzzer need not guess the layout of a group.
    func seeds() throws -> [[UInt8]] {
        switch self {
        case .slot: SlotFuzzing.seeds()
        case .node: try NodeFuzzing.seeds()
        case .log: try LogFuzzing.seeds()
        case .file: FileFuzzing.seeds()
        case .freeMap: FreeMapFuzzing.seeds()
        }
    }
}

/// Takes the fuzzer's bytes apart from the front; zeros behind the end.
struct FuzzInput {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }
    var left: Int { bytes.count - position }

    mutating func byte() -> Int {
        if isAtEnd { return 0 }
        defer { position += 1 }
        return Int(bytes[position])
    }

    /// A number of so many bytes, low ones first.
    mutating func number(_ count: Int = 2) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(byte()) << UInt64(8 * index) }
        return value
    }

    mutating func below(_ bound: Int) -> Int { bound > 1 ? Int(number() % UInt64(bound)) : 0 }

    /// The next bytes, at most so many.
    mutating func run(_ count: Int) -> UnsafeRawBufferPointer {
        let end = min(position + max(count, 0), bytes.count)
        defer { position = end }
        return UnsafeRawBufferPointer(rebasing: bytes[min(position, end)..<end])
    }
}

/// A check that passed on bytes which break a rule: the process ends, and the fuzzer keeps the input.
func fuzzExpect(_ condition: Bool, _ rule: @autoclosure () -> String) {
    if !condition { fatalError("broken: \(rule())") }
}
