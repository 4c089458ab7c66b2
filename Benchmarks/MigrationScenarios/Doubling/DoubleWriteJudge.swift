import Harness
import RunRecords
import StoreMigration

/// Judges two stores after the process that wrote them was killed.
///
/// 1. A store that the phase writes has the acknowledged batches in their order, no refused batch, and a batch without
/// an answer as a whole or not at all. A store that the phase does not write is as it was.
/// 2. In a phase that writes both stores they are equal as soon as a new writer has been opened: the outbox brings that
/// about, without a reconciler.
/// 3. The reconciler finds the records that differ and no others, and after it none differs.
/// 4. The writer can continue; only tested for a death after the last answer, once for each combination.
///
/// The judge reads records by SQL and by objects, without the adapters.
struct DoubleWriteJudge {
    private let place: MigrationPlace
    private let trial: DoubleWriteTrial
    private let answers: DoubleWriteAnswers

    init(_ place: MigrationPlace, _ trial: DoubleWriteTrial, _ answers: DoubleWriteAnswers) {
        self.place = place
        self.trial = trial
        self.answers = answers
    }

    func finding() throws -> DoubleWriteFinding {
        let writer = try place.writer(trial.order)
        let phase = writer.phase
        if let wrong = wrongPhase(phase) { return wrong }
        if writer.waitingCount > 0 {
            return DoubleWriteFinding(
                .lostCommit,
                "\(writer.waitingCount) batches wait though no store fails any more: \(Self.reason(writer))")
        }
        let (old, new) = try place.contents()
        if let wrong = judge(old, new, phase) { return wrong }
        if phase == .new { try writer.enter(.bothNewRead) }
        if phase == .old { try writer.enter(.bothOldRead) }
        return try reconcile(writer, phase)
    }

    /// Why batches wait: the writer refuses a step to another phase while batches wait, and its error has the reason.
    private static func reason(_ writer: DoubleWriter) -> String {
        do {
            try writer.enter(writer.phase == .bothOldRead ? .old : .bothOldRead)
            return "and now they do not"
        } catch { return "\(error)" }
    }

    private func wrongPhase(_ phase: MigrationPhase) -> DoubleWriteFinding? {
        var allowed: Set<MigrationPhase> = [trial.phase]
        switch answers.step {
        case .stepped: allowed = [.bothNewRead]
        case .stepping, .stepRefused: allowed.insert(.bothNewRead)
        default: break
        }
        if allowed.contains(phase) { return nil }
        return DoubleWriteFinding(.lostCommit, "the phase was \"\(trial.phase)\", and is \"\(phase)\" now")
    }

    // MARK: Before the reconciler

    private func judge(
        _ old: ContactBook, _ new: ContactBook, _ phase: MigrationPhase
    ) -> DoubleWriteFinding? {
        switch phase {
        case .bothOldRead, .bothNewRead:
            if let wrong = wrong(old, "old") ?? wrong(new, "new") { return wrong }
            if let difference = new.difference(from: old) {
                return DoubleWriteFinding(.silentlyWrong, "the stores differ with nothing waiting: \(difference)")
            }
        case .old:
            if let wrong = wrong(old, "old") { return wrong }
            if let difference = new.difference(from: DoubleWriteTrial.before) {
                return DoubleWriteFinding(.silentlyWrong, "the new store was written in \"\(phase)\": \(difference)")
            }
        case .new:
            if let wrong = wrong(new, "new") { return wrong }
            // The way back writes the old store; a way back that was interrupted may have done any part of it, and is
            // repeated.
            if answers.step == nil, let difference = old.difference(from: DoubleWriteTrial.before) {
                return DoubleWriteFinding(.silentlyWrong, "the old store was written in \"\(phase)\": \(difference)")
            }
        }
        return nil
    }

    private func wrong(_ book: ContactBook, _ name: String) -> DoubleWriteFinding? {
        let allowed = answers.allowed
        if allowed.contains(book) { return nil }
        let difference = book.difference(from: allowed[allowed.count - 1]) ?? ""
        return DoubleWriteFinding(
            answers.isLost(book) ? .lostCommit : .silentlyWrong, "the \(name) store: \(difference)")
    }

    // MARK: The reconciler

    private func reconcile(_ writer: DoubleWriter, _ phase: MigrationPhase) throws -> DoubleWriteFinding {
        let (old, new) = try place.contents()
        let right = phase == .old || phase == .bothOldRead ? old : new
        let differing = old.differences(from: new)
        if phase == .new, !differing.isEmpty {
            return DoubleWriteFinding(
                .lostCommit, "the way back left contact \(differing[0]) as it was: \(differing.count) differ")
        }
        let reconciler = try Reconciler(writer)
        let told = try reconciler.divergences().compactMap(Self.number)
        if told.sorted() != differing {
            return DoubleWriteFinding(.silentlyWrong, "\(differing) differ, and the reconciler found \(told)")
        }
        var finding = DoubleWriteFinding(.correct, "")
        if !differing.isEmpty {
            let report = try reconciler.mend(phase == .old || phase == .bothOldRead ? .oldWins : .newWins)
            (finding.found, finding.mended) = (differing.count, report.mended)
        }
        let mended = differing.isEmpty ? (old: old, new: new) : try place.contents()
        finding.left = mended.old.differences(from: mended.new).count
        if finding.left > 0 || mended.old != right {
            finding.outcome = .silentlyWrong
            finding.detail =
                "after the reconciliation \(finding.left) differ; "
                + (mended.old.difference(from: right) ?? mended.new.difference(from: right) ?? "")
            return finding
        }
        return trial.call == nil ? try goOn(writer, right, finding) : finding
    }

    private static func number(_ divergence: Divergence) -> Int? {
        if case .integer(let key) = divergence.id.key { Int(key) } else { nil }
    }

    private func goOn(
        _ writer: DoubleWriter, _ before: ContactBook, _ so: DoubleWriteFinding
    ) throws -> DoubleWriteFinding {
        var finding = so
        let outcome = try writer.write(DoubleWriteTrial.after)
        let expected = before.applying(DoubleWriteTrial.after)
        let (old, new) = try place.contents()
        if !outcome.isDone || old != expected || new != expected {
            finding.outcome = .silentlyWrong
            finding.detail =
                "when it went on: "
                + (old.difference(from: expected) ?? new.difference(from: expected) ?? "a batch waits for no reason")
        }
        return finding
    }
}
