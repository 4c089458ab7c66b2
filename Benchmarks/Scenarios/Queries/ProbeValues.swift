import Harness
import RunRecords
import Seeds

/// Values at which comparisons fail first: the limits of integers, both zeros, NaN, and texts as long as a word or a
/// block, which differ only in their last byte.
enum ProbeValues {
    static let integers: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    /// - Parameter session: if it stores null for NaN, the rows have another value instead of NaN; all other rows are
    /// the same for every engine.
    static func reals(for session: any ProbeSession) -> [Double] {
        [session.storesNaN ? .nan : 2.5, -0.0, 0, 1.5, -1.5]
    }

    /// Constants that columns of reals are compared with, whether or not rows contain them.
    static let realConstants: [Double] = [.nan, -0.0, 0, 1.5, -1.5, 1, .infinity, -.infinity]

    /// Bytes of the texts below.
    static let textSizes = [7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]

    /// Pairs of equal size that differ in the last byte.
    static let texts: [String] = textSizes.flatMap { size in
        ["a", "b"].map { String(repeating: "x", count: size - 1) + $0 }
    }

    /// Every comparison of both real columns with the constants.
    static var realQuestions: [ProbeQuery] {
        ProbeComparison.allCases.flatMap { comparison in
            realConstants.flatMap { constant in
                twins("real, \(comparison)", .compare(.real, comparison, .real(constant)))
            }
        }
    }

    /// Every comparison of both integer columns with the limits and their neighbours.
    static var integerQuestions: [ProbeQuery] {
        ProbeComparison.allCases.flatMap { comparison in
            integers.flatMap { constant in
                twins("integer, \(comparison)", .compare(.number, comparison, .integer(constant)))
            }
        }
    }

    /// Each text, by both forms of equality, in both text columns.
    static var textQuestions: [ProbeQuery] {
        texts.flatMap { text in
            twins("text of a boundary", .text(.text, .equal, text, isFolded: false))
                + twins("text of a boundary", .compare(.text, .notEqual, .text(text)))
        }
    }

    /// The same query for the indexed column and for its twin.
    static func twins(_ kind: String, _ condition: ProbeCondition) -> [ProbeQuery] {
        [false, true].map { ProbeQuery(kind, condition.on(indexed: $0)) }
    }
}
