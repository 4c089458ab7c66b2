/// How thoroughly the states after a crash are enumerated.
package struct CrashRules: Sendable, Equatable {
    /// All legal states are visited up to 2 to this power; beyond it chosen families and a sample.
    package var exhaustiveUnits = 12
    /// States drawn at random where not all are visited.
    package var sampleCount = 1_000
    /// Leading bytes of a data file whose writes count sector by sector: the header slots.
    package var headerBytes = 8_192
    /// Above this many unsynced operations only pairs of the newest ones are lost together.
    package var pairLimit = 64
    /// Above this many sectors a write is torn only at page boundaries, and at each sector of its first and last page.
    package var cutLimit = 64
    /// Where not all states are visited, only this many of the newest unsynced operations are lost, kept or torn alone.
    package var singleLimit = Int.max
    package var profile = CrashProfile.strict

    package init() {}
}

/// The number of legal states.
package enum LegalCount: Sendable, Equatable, CustomStringConvertible {
    case exactly(UInt64)
    case moreThanTwoTo(Int)

    package var description: String {
        switch self {
        case .exactly(let count): String(count)
        case .moreThanTwoTo(let power): "more than 2^\(power)"
        }
    }

    /// The exponent of the largest power of two that is not above it.
    private var power: Int {
        switch self {
        case .exactly(let count): count == 0 ? 0 : 63 - count.leadingZeroBitCount
        case .moreThanTwoTo(let power): power
        }
    }

    package static func * (one: LegalCount, other: LegalCount) -> LegalCount {
        if case .exactly(let a) = one, case .exactly(let b) = other {
            let (product, overflow) = a.multipliedReportingOverflow(by: b)
            if !overflow { return .exactly(product) }
        }
        return .moreThanTwoTo(one.power + other.power)
    }

    package static func + (one: LegalCount, other: LegalCount) -> LegalCount {
        if case .exactly(let a) = one, case .exactly(let b) = other {
            let (sum, overflow) = a.addingReportingOverflow(b)
            if !overflow { return .exactly(sum) }
        }
        return .moreThanTwoTo(max(one.power, other.power))
    }
}

/// What an enumeration covered.
package struct CrashCoverage: Sendable, Equatable, CustomStringConvertible {
    /// Crash points.
    package var points = 0
    /// Recorded operations of the trace.
    package var operations = 0
    /// Independent units, summed over the crash points.
    package var units = 0
    package var legal = LegalCount.exactly(0)
    /// States built.
    package var visited = 0
    /// Visited states that lack something that a program had written.
    package var lacking = 0
    /// States passed to the caller: with bytes that had not been seen before.
    package var distinct = 0
    /// Distinct states that lack something. There are none if each write is followed by its sync: the disk that lacks
    /// the write equals the disk before it, which was passed before.
    package var distinctLacking = 0
    /// Crash points at which every legal state was visited.
    package var exhaustivePoints = 0

    package init() {}

    package static func += (one: inout CrashCoverage, other: CrashCoverage) {
        one.points += other.points
        one.operations += other.operations
        one.units += other.units
        one.legal = one.legal + other.legal
        one.visited += other.visited
        one.lacking += other.lacking
        one.distinct += other.distinct
        one.distinctLacking += other.distinctLacking
        one.exhaustivePoints += other.exhaustivePoints
    }

    package var description: String {
        """
        operations \(operations), crash points \(points) (\(exhaustivePoints) exhaustively), units \(units), \
        states legal \(legal), visited \(visited), distinct \(distinct)
        """
    }
}
