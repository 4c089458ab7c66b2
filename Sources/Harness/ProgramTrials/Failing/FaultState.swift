import Files

/// The file in which the preloaded library counts calls, in a program and all its descendants, and records struck
/// calls.
package struct FaultState: CallCounting, Sendable {
    package static let variable = "ASSAY_FAULT_STATE"
    package static let faultVariable = "ASSAY_FAULT"
    private static let magic = Array("ASSAYFL1".utf8)
    private static let size = 4_096

    /// In the order of the words of `struct assay_faults`.
    private enum Word: Int {
        case programs = 1
        case group, misread, kinds, number, effect, error, isLasting, matched, struck, inapplicable, unseen, maps
        case streams, struckKind, counts
    }

    private let words: [UInt64]

    /// Creates the file anew, with all counts zero.
    package static func make(_ path: String) throws {
        try FileTree.writeBytes(path, [UInt8](repeating: 0, count: size))
    }

    /// Throws: `TrialRefusal` for a file not written by a library of this version.
    package init(reading path: String) throws {
        let bytes = try FileTree.readBytes(path)
        let isUntouched = bytes.count == Self.size && bytes.allSatisfy { $0 == 0 }
        guard bytes.count == Self.size, isUntouched || bytes.starts(with: Self.magic) else {
            throw TrialRefusal("the preloaded library is of another version than this assay: build both anew")
        }
        words = (0..<(Self.size / 8)).map { word in
            (0..<8).reduce(0) { $0 | UInt64(bytes[word * 8 + $1]) << UInt64(8 * $1) }
        }
    }

    private func value(_ word: Word) -> Int { Int(clamping: words[word.rawValue]) }

    /// Programs loaded with the library.
    package var programs: Int { value(.programs) }
    /// The fault could not be parsed.
    package var isMisread: Bool { value(.misread) != 0 }
    /// Calls that the fault struck.
    package var struck: Int { value(.struck) }
    /// The fault could not strike its call: one byte has no half.
    package var isInapplicable: Bool { value(.inapplicable) != 0 }
    /// Calls that the program makes by number (`syscall`) or by io_uring, which no fault strikes.
    package var unseen: Int { value(.unseen) }
    package var maps: Int { value(.maps) }
    /// Streams of the C library that write to files: their calls are made inside the library.
    package var streams: Int { value(.streams) }
    /// The kind of the first struck call.
    package var struckKind: CallKind? {
        let number = value(.struckKind) - 1
        return CallKind.allCases.indices.contains(number) ? CallKind.allCases[number] : nil
    }

    /// Calls of a kind so far.
    package func count(_ kind: CallKind) -> Int {
        let index = CallKind.allCases.firstIndex(of: kind) ?? 0
        return Int(clamping: words[Word.counts.rawValue + index])
    }
}
