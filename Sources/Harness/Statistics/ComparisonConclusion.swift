/// The conclusion from all batches of a comparison. A flagged difference counts only if a second batch, of new pairs,
/// confirms it.
package struct ComparisonConclusion: Sendable, Hashable {
    package let finding: SideComparison.Finding
    /// The reason, in a sentence; empty if the figures say enough.
    package let reason: String

    private init(_ finding: SideComparison.Finding, _ reason: String = "") {
        self.finding = finding
        self.reason = reason
    }

    /// - Parameters:
    ///   - batches: the first batch, then the confirming one, if there was one; nil stands for a batch with too few
    ///     pairs.
    ///   - confirms: whether a flagged difference needs a second batch. Otherwise the first one decides.
    package init(_ batches: [SideComparison?], confirms: Bool) {
        guard let first = batches.first ?? nil else {
            self.init(.inconclusive, "fewer than \(BootstrapInterval.fewestValues) pairs")
            return
        }
        guard first.isFlagged, confirms else {
            self.init(first.finding)
            return
        }
        guard batches.count > 1, let second = batches[1] else {
            self.init(.inconclusive, "\(first.finding.rawValue) in one batch, and no time to confirm it")
            return
        }
        guard second.finding == first.finding else {
            self.init(.inconclusive, "\(first.finding.rawValue) in one batch, \(second.finding.rawValue) in the next")
            return
        }
        self.init(first.finding)
    }

    package var isDifference: Bool { finding == .slower || finding == .faster }

    /// This conclusion, made inconclusive if the control, A against itself, shows a difference.
    ///
    /// - Parameter place: the case of that control.
    package func beside(control: ComparisonConclusion, of place: String) -> ComparisonConclusion {
        guard control.isDifference, finding != .inconclusive else { return self }
        return ComparisonConclusion(
            .inconclusive, "\(finding.rawValue), but A against itself differs in \(place)")
    }
}
