import RunRecords

/// Checks a history of concurrent increments of one counter for lost and invented updates.
///
/// Each increment reads, adds 1 and writes in a transaction. With isolation the value is the number of increments done:
/// at the end between acknowledged and attempted; and a read sees at least those increments that had been acknowledged
/// before it began, and at most those that had been attempted before it ended.
package struct CounterHistory: Sendable {
    /// What one thread did: intervals on one monotonic clock.
    package struct Event: Sendable {
        package enum Kind: Sendable, Equatable {
            case increment(acknowledged: Bool)
            case read(value: Int64)
        }

        package var kind: Kind
        package var start: UInt64
        package var end: UInt64

        package init(_ kind: Kind, start: UInt64, end: UInt64) {
            self.kind = kind
            self.start = start
            self.end = end
        }
    }

    package private(set) var events: [Event] = []
    package let initial: Int64

    package init(initial: Int64 = 0) {
        self.initial = initial
    }

    package mutating func add(_ events: [Event]) {
        self.events += events
    }

    /// Judges the history against the value found at the end.
    package func judge(final: Int64) -> (outcome: Outcome, detail: String) {
        var acknowledged: Int64 = 0
        var attempted: Int64 = 0
        for event in events {
            guard case .increment(let isAcknowledged) = event.kind else { continue }
            attempted += 1
            if isAcknowledged { acknowledged += 1 }
        }
        let verdict = Self.judge(initial: initial, acknowledged: acknowledged, attempted: attempted, final: final)
        guard verdict.outcome == .correct else { return verdict }
        return judgeReads()
    }

    /// For histories of which only the sums are known.
    package static func judge(
        initial: Int64, acknowledged: Int64, attempted: Int64, final: Int64
    ) -> (outcome: Outcome, detail: String) {
        let done = final - initial
        if done < acknowledged {
            return (.lostCommit, "\(acknowledged - done) of \(acknowledged) acknowledged increments are lost")
        }
        if done > attempted {
            return (.silentlyWrong, "\(done) increments are there, but only \(attempted) were attempted")
        }
        return (.correct, "")
    }

    /// Complexity: O(n log n).
    private func judgeReads() -> (outcome: Outcome, detail: String) {
        var acknowledgedEnds: [UInt64] = []
        var starts: [UInt64] = []
        for event in events {
            guard case .increment(let isAcknowledged) = event.kind else { continue }
            starts.append(event.start)
            if isAcknowledged { acknowledgedEnds.append(event.end) }
        }
        acknowledgedEnds.sort()
        starts.sort()
        for event in events {
            guard case .read(let value) = event.kind else { continue }
            let least = initial + Int64(Self.count(acknowledgedEnds, below: event.start))
            let most = initial + Int64(Self.count(starts, below: event.end))
            if value < least {
                return (.silentlyWrong, "a read gave \(value) after \(least) increments had been acknowledged")
            }
            if value > most {
                return (.silentlyWrong, "a read gave \(value) when only \(most) increments had been attempted")
            }
        }
        return (.correct, "")
    }

    /// How many of the ascending times lie before `time`.
    private static func count(_ times: [UInt64], below time: UInt64) -> Int {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
