/// What a read command made of damaged files. From harmless to grave.
package enum DamageOutcome: String, Sendable, CaseIterable, Comparable {
    /// Status 0, and the output that it always has.
    case correct
    /// Another status, and every line that was printed before is right.
    case detected
    /// Another status, after something else was printed than should have been.
    case wrongThenDetected = "wrong-then-detected"
    /// Status 0, and another output.
    case silentlyWrong = "silently-wrong"
    case hung
    case memoryLimit = "memory-limit"
    case crashed

    /// Whether whoever reads was told the truth, and lived.
    package var isHonest: Bool { self <= .detected }

    /// In a line of the heat by offset.
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
