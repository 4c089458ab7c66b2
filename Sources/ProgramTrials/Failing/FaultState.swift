import RunRecords

/// The file in which the preloaded library, in all programs that come of one, counts calls and says what was struck.
package struct FaultState: CallCounting, Sendable {
    package static let variable = "ASSAY_FAULT_STATE"
    package static let faultVariable = "ASSAY_FAULT"
    private static let magic = Array("ASSAYFL1".utf8)
    private static let size = 4_096

    /// As the words of `struct assay_faults` follow each other.
    private enum Word: Int {
        case programs = 1
        case group, misread, kinds, number, effect, error, isLasting, matched, struck, inapplicable, unseen, maps
        case streams, struckKind, counts
    }

    private let words: [UInt64]

    /// Makes the file anew: nothing has been counted.
    package static func make(_ path: String) throws {
        try FileTree.writeBytes(path, [UInt8](repeating: 0, count: size))
    }

    /// Throws: `TrialRefusal` for a file that no library of this version has written.
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

    /// Programs that were loaded with the library.
    package var programs: Int { value(.programs) }
    /// The fault was not understood.
    package var isMisread: Bool { value(.misread) != 0 }
    /// Calls that the fault struck.
    package var struck: Int { value(.struck) }
    /// The call whose turn it was could not be struck: one byte has no half.
    package var isInapplicable: Bool { value(.inapplicable) != 0 }
    /// Calls by number, which no fault strikes.
    package var unseen: Int { value(.unseen) }
    package var maps: Int { value(.maps) }
    /// Streams of the C library that write to files: it makes their calls for itself.
    package var streams: Int { value(.streams) }
    /// The kind of the first call that was struck.
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
