/// Result of a read command on damaged files, in order of severity.
package enum DamageOutcome: String, Sendable, CaseIterable, Comparable {
    /// Status 0 and the correct output.
    case correct
    /// Another status, and every printed line is correct.
    case detected
    /// Another status, after an incorrect line.
    case wrongThenDetected = "wrong-then-detected"
    /// Status 0, and an incorrect output.
    case silentlyWrong = "silently-wrong"
    case hung
    case memoryLimit = "memory-limit"
    case crashed

    /// Whether the reader got no wrong result, and ended by itself.
    package var isHonest: Bool { self <= .detected }

    /// In a line of the heat map by offset.
    package var mark: Character {
        switch self {
        case .correct: "."
        case .detected: "-"
        case .wrongThenDetected: "w"
        case .silentlyWrong: "#"
        case .hung: "H"
        case .memoryLimit: "M"
        case .crashed: "X"
        }
    }

    package static func < (one: Self, other: Self) -> Bool { one.gravity < other.gravity }

    private var gravity: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
