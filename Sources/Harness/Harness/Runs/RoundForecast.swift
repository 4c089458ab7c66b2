import RunRecords
import Statistics

/// Estimates, before the first round, in how many rounds the run will measure each comparison within the budget. It
/// uses the durations in an earlier run, or the size of the case if there was none.
package struct RoundForecast: Sendable {
    package struct Row: Sendable, Equatable {
        /// A case of the comparison, with an empty engine.
        package var subject: Case
        package var engines: Int
        /// Seconds of a round, with its control.
        package var seconds: Double
        /// Whether some of its cases have no duration from an earlier run.
        package var isGuessed: Bool
        /// Rounds if every other comparison stays open as long as this one.
        package var least: Int
        /// Rounds if the first look decides all others.
        package var most: Int
    }

    package private(set) var rows: [Row] = []
    /// The rounds before the first look: no comparison is decided with fewer.
    package let firstLook: Int
    /// The time budget of the plan in seconds; nil if it has none.
    package let budget: Double?

    /// - Parameters:
    ///   - rounds: the most that the plan asks for.
    ///   - known: the duration of a measurement of a case in an earlier run.
    package init(
        _ cases: [PlannedCase], rounds: Int, budget: Double?, known: (Case) -> Double?
    ) {
        self.budget = budget
        let looks = Looks(most: rounds).rounds
        firstLook = looks.first ?? rounds
        func seconds(_ planned: PlannedCase) -> Double {
            (known(planned.test) ?? Self.guess(planned.test)) * (planned.hasControl ? 2 : 1)
        }
        for comparison in RunOrder.comparisons(cases) {
            let members = comparison.map { cases[$0] }
            var subject = members[0].test
            subject.engine = ""
            rows.append(
                Row(
                    subject: subject, engines: Set(members.map(\.test.engine)).count,
                    seconds: members.reduce(0) { $0 + seconds($1) },
                    isGuessed: members.contains { known($0.test) == nil }, least: rounds, most: rounds))
        }
        guard let budget, !rows.isEmpty else { return }
        let once = cases.filter { !$0.isCompared && $0.verdict == nil }.reduce(0) { $0 + seconds($1) }
        let round = rows.reduce(0) { $0 + $1.seconds }
        let first = min(firstLook, Int(budget / max(round, 1e-3)))
        for place in rows.indices { (rows[place].least, rows[place].most) = (first, first) }
        if first < firstLook { return }
        goOn(looks, left: max(0, budget - round * Double(first) - once))
    }

    /// The share of the remaining time that further rounds may take, as in ``NextRounds``.
    private static let usableShare = 0.9

    private mutating func goOn(_ looks: [Int], left: Double) {
        for place in rows.indices {
            rows[place].most = Self.reached(looks, seconds: rows[place].seconds, left: left)
        }
        var left = left
        var going = rows.indices.sorted { rows[$0].seconds < rows[$1].seconds }
        for (look, next) in zip(looks, looks.dropFirst()) {
            var usable = left * Self.usableShare
            going = going.filter { place in
                let needed = rows[place].seconds * Double(next - look)
                guard needed <= usable else { return false }
                usable -= needed
                left -= needed
                rows[place].least = next
                return true
            }
        }
    }

    /// The rounds of a comparison if no other one needs time.
    private static func reached(_ looks: [Int], seconds: Double, left: Double) -> Int {
        var (reached, left) = (looks.first ?? 0, left)
        for (look, next) in zip(looks, looks.dropFirst()) {
            let needed = seconds * Double(next - look)
            guard needed <= left * usableShare else { break }
            left -= needed
            reached = next
        }
        return reached
    }

    /// A process with its measurement takes at least half a second; copying or generating rows, and checking them, adds
    /// to it.
    private static func guess(_ test: Case) -> Double { 0.6 + Double(test.size) / 1_000_000 }
}
