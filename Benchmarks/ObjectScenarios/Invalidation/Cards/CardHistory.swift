import CaseFiles
import Measuring
import RunRecords
import Strata

/// Plays the operations of a script on the calling thread.
struct CardHistory {
    struct End: Sendable {
        struct Step: Sendable {
            var outcome = Outcome.correct
            var detail = ""
        }

        /// One for each operation that ran.
        var trials: [Step] = []
        /// Operations that had an effect.
        var did = 0
        var isCut = false
        var tally = CardTally()
    }

    private var file: CardFile
    private var place: (any CardPlace)?
    private var end = End()

    init(_ file: CardFile) { self.file = file }

    func run(_ operations: [ScriptOperation], deadline: UInt64) -> End {
        var player = self
        player.play(operations, deadline: deadline)
        return player.end
    }

    private mutating func play(_ operations: [ScriptOperation], deadline: UInt64) {
        do {
            place = try open(CardModel())
            for operation in operations {
                if MonotonicClock.now() >= deadline {
                    end.isCut = true
                    return
                }
                end.trials.append(End.Step())
                if try perform(try CardOperation.kind(operation), operation.arguments) { end.did += 1 }
                try place?.compare()
            }
            // The file must contain what was committed.
            try openAgain(isMigration: false)
        } catch { fail(error) }
    }

    private mutating func perform(_ kind: CardOperation.Kind, _ numbers: [Int]) throws -> Bool {
        guard kind == .reopen || kind == .migrate else { return try place?.perform(kind, numbers) ?? false }
        if place?.state.working != nil { return false }
        try openAgain(isMigration: kind == .migrate)
        return true
    }

    private mutating func fail(_ error: any Error) {
        if end.trials.isEmpty { end.trials.append(End.Step()) }
        let text = (error as? CardFinding)?.text ?? "\(error)"
        end.trials[end.trials.count - 1] = End.Step(
            outcome: error is Realm.Error ? .refused : .silentlyWrong, detail: text)
    }

    private func open(_ model: CardModel) throws -> any CardPlace {
        model.isNewer
            ? try CardSession<NewerCards.Card>(file, model) : try CardSession<OlderCards.Card>(file, model)
    }

    /// Releases everything that is open, and opens the file.
    private mutating func openAgain(isMigration: Bool) throws {
        try place?.stop()
        if let place { end.tally.add(place.tally) }
        var model = place?.state.stored ?? CardModel()
        place = nil
        if isMigration {
            file.version += 1
            model.migrate()
        }
        let opened = try open(model)
        try opened.compare()
        place = opened
    }
}
