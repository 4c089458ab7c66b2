import RunRecords
import StoreMigration

/// One combination: the phase, the store that is written first, the store that fails and how, and the call before which
/// the process is killed.
struct DoubleWriteTrial: Hashable {
    /// How one store fails beside the kill: at the second batch, or from the second batch on (`for-good`).
    enum Failure: String, CaseIterable {
        case none
        case oldRefuses = "old-refuses"
        case newRefuses = "new-refuses"
        case oldRefusesForGood = "old-refuses-for-good"
        case newRefusesForGood = "new-refuses-for-good"
        case oldLosesAnswer = "old-loses-answer"
        case newLosesAnswer = "new-loses-answer"

        var side: StoreSide? {
            switch self {
            case .none: nil
            case .oldRefuses, .oldRefusesForGood, .oldLosesAnswer: .old
            case .newRefuses, .newRefusesForGood, .newLosesAnswer: .new
            }
        }

        /// Batches are counted from 0: the second one is number 1.
        var fault: FaultedStore.Fault? {
            switch self {
            case .none: nil
            case .oldRefuses, .newRefuses: .refuses(1)
            case .oldRefusesForGood, .newRefusesForGood: .refusesFrom(1)
            case .oldLosesAnswer, .newLosesAnswer: .losesAnswer(1)
            }
        }
    }

    var phase: MigrationPhase
    var order: WriteOrder
    var failure: Failure
    /// The number of the call before which the process is killed, among the calls that change a file, from the first
    /// batch on; nil to kill it after its last answer.
    var call: Int?

    /// All combinations, each with the kill after the last answer. In a phase that writes one store there is only one
    /// order, and a store that is never written does not fail.
    static let combinations: [DoubleWriteTrial] = MigrationPhase.allCases.flatMap { phase in
        WriteOrder.allCases.filter { phase.writesBoth || $0 == .oldFirst }.flatMap { order in
            // The way back from the new store writes the old one.
            Failure.allCases.filter { phase != .old || $0.side != .new }
                .map { DoubleWriteTrial(phase: phase, order: order, failure: $0) }
        }
    }

    init(phase: MigrationPhase, order: WriteOrder, failure: Failure, call: Int? = nil) {
        self.phase = phase
        self.order = order
        self.failure = failure
        self.call = call
    }

    /// `kill:both-old-read,old-first,new-refuses,17`; `end` instead of the number for a kill after the last answer.
    var address: FaultAddress {
        FaultAddress(
            text: "kill:\(phase.word),\(order.word),\(failure.rawValue),\(call.map { String($0) } ?? "end")")
    }

    init?(_ address: FaultAddress) {
        guard address.fault == .kill, let colon = address.text.firstIndex(of: ":") else { return nil }
        let words = address.text[address.text.index(after: colon)...].split(separator: ",").map { String($0) }
        guard words.count == 4, let phase = MigrationPhase.allCases.first(where: { $0.word == words[0] }),
            let order = WriteOrder.allCases.first(where: { $0.word == words[1] }),
            let failure = Failure(rawValue: words[2]), words[3] == "end" || Int(words[3]) != nil
        else { return nil }
        self.init(phase: phase, order: order, failure: failure, call: Int(words[3]))
    }

    // MARK: What is written

    static let before = ContactBook((1...5).map { ContactRow(number: $0, friend: $0 == 5 ? 4 : nil) })

    /// Each batch inserts, changes, and deletes or links, and touches rows of the batch before it, so that a wrong
    /// order shows. The third batch deletes the target of a link of the second one.
    static let batches: [[ContactBook.Change]] = [
        [.put(ContactRow(number: 6, friend: 1)), .rename(1, "once more"), .delete(2)],
        [.put(ContactRow(number: 7, friend: 6)), .put(changed(3)), .rename(6, "sixth"), .rename(1, "twice more")],
        [.delete(6), .rename(1, "thrice more"), .put(ContactRow(number: 8)), .rename(3, "third")],
    ]

    /// A row with null where it had a value, and 0 where it had null.
    private static func changed(_ id: Int) -> ContactRow {
        var row = ContactRow(number: id, friend: 1)
        row.age = row.age == nil ? 0 : nil
        row.note = nil
        row.photo = []
        return row
    }

    /// The batch that is written at the end, to show that the writer can continue.
    static let after: [ContactBook.Change] = [.put(ContactRow(number: 9, friend: 1)), .delete(4)]
}

/// What the writing process reported of its batches before it was killed.
struct DoubleWriteAnswers {
    enum Word: String {
        case begun, done, waiting, refused, unknown
        /// The step back to the previous phase.
        case stepping, stepped, stepRefused
        case counted, broke
    }

    private(set) var answers: [Word?] = Array(repeating: nil, count: DoubleWriteTrial.batches.count)
    private(set) var begunCount = 0
    private(set) var step: Word?
    private(set) var calls = 0
    /// Whether the process came to its last answer.
    private(set) var isWhole = false
    private(set) var complaint: String?

    /// Whether a batch that one store may have reaches both stores: in phases that write both.
    private let bringsUnknown: Bool

    init(_ text: String, phase: MigrationPhase) {
        bringsUnknown = phase.writesBoth
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map { String($0) }
            guard let word = words.first.flatMap({ Word(rawValue: $0) }) else { continue }
            let rest = words.count > 1 ? words[1] : ""
            switch word {
            case .begun: begunCount += 1
            case .done, .waiting, .refused, .unknown:
                guard let place = Int(rest), answers.indices.contains(place) else { continue }
                answers[place] = word
            case .stepping, .stepped, .stepRefused: step = word
            case .counted: (calls, isWhole) = (Int(rest) ?? 0, true)
            case .broke: complaint = rest
            }
        }
    }

    var acknowledged: Int { answers.count { $0 == .done || $0 == .waiting } }

    /// The contents that are right: with the acknowledged batches in their order, without the refused ones, and with
    /// each batch without an answer as a whole or not at all.
    var allowed: [ContactBook] { worlds(refusedMayBeThere: false) }

    /// Whether a book lacks a batch that was acknowledged.
    func isLost(_ book: ContactBook) -> Bool { acknowledged > 0 && !worlds(refusedMayBeThere: true).contains(book) }

    private func worlds(refusedMayBeThere: Bool) -> [ContactBook] {
        var books = [DoubleWriteTrial.before]
        for (place, batch) in DoubleWriteTrial.batches.enumerated() where place < begunCount {
            let with = books.map { $0.applying(batch) }
            switch answers[place] {
            case .done, .waiting: books = with
            case .unknown where bringsUnknown: books = with
            case .refused: if refusedMayBeThere { books += with }
            default: books += with
            }
        }
        return books
    }
}
