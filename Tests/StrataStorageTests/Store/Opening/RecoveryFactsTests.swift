import Testing

@testable import StrataStorage

/// A rule of docs/file-format.md: the answer for all facts to which it applies.
struct FactRule<Facts, Answer: Hashable> {
    let name: String
    let applies: (Facts) -> Bool
    let answer: Answer

    init(_ name: String, _ answer: Answer, if applies: @escaping (Facts) -> Bool) {
        (self.name, self.answer, self.applies) = (name, answer, applies)
    }
}

/// Compares a table of answers with rules, for all combinations of facts.
///
/// The rules have no order: if several apply, they must agree. A combination is impossible, for a stated reason, or at
/// least one rule applies to it.
struct FactTable<Facts: Hashable, Answer: Hashable> {
    let all: [Facts]
    let impossible: [(reason: String, holds: (Facts) -> Bool)]
    let rules: [FactRule<Facts, Answer>]

    /// - Returns: how many combinations can occur.
    @discardableResult
    func check(_ answer: (Facts) -> Answer) -> Int {
        var possible = 0
        var used: Set<String> = []
        #expect(Set(all).count == all.count, "a combination is listed twice")
        for facts in all where !impossible.contains(where: { $0.holds(facts) }) {
            possible += 1
            let applying = rules.filter { $0.applies(facts) }
            used.formUnion(applying.map(\.name))
            let expected = Set(applying.map(\.answer))
            #expect(expected.count == 1, "\(facts): rules \(applying.map(\.name))")
            #expect(expected.contains(answer(facts)), "\(facts): \(answer(facts)) instead of \(expected)")
        }
        for rule in rules { #expect(used.contains(rule.name), "the rule applies to no combination: \(rule.name)") }
        for (reason, holds) in impossible { #expect(all.contains(where: holds), "excludes nothing: \(reason)") }
        return possible
    }
}

/// Compares what replay concludes from a batch outside the chain with the rules.
@Suite struct BatchFactsTests {
    private static let bools = [false, true]

    @Test("every fact of a batch outside the chain has the answer of its rule")
    func outsideTheChain() {
        var all: [BatchFacts] = []
        for place in BatchFacts.Place.allCases {
            for claims in Self.bools {
                for isWhole in Self.bools {
                    for reaches in Self.bools {
                        for hasReached in Self.bools {
                            all.append(
                                BatchFacts(
                                    place: place, claimsDurable: claims, isWhole: isWhole, reaches: reaches,
                                    hasReached: hasReached))
                        }
                    }
                }
            }
        }
        let table = FactTable<BatchFacts, BatchFacts.Answer>(
            all: all,
            impossible: [
                ("an intact header's durable-to is below its first LSN", { $0.claimsDurable && $0.place != .after }),
                ("the slot's LSN is at most its checkpoint, before the chain", { $0.place != .before && !$0.reaches }),
            ],
            rules: [
                FactRule("a durable record is missing", .contradiction) { $0.claimsDurable },
                FactRule("a verified batch has the next LSN, but names another predecessor", .contradiction) {
                    $0.isWhole && $0.place == .next
                },
                FactRule("several batches under one sync: any of them may be missing", .witness) {
                    $0.isWhole && $0.place == .after && !$0.claimsDurable
                },
                FactRule("the first whole batch that ends at the slot's LSN or later is proof", .witness) {
                    $0.isWhole && $0.place == .before && $0.reaches && !$0.hasReached
                },
                FactRule("one proof suffices", .nothing) { $0.place == .before && $0.hasReached },
                FactRule("a leftover before the slot's LSN", .nothing) { $0.place == .before && !$0.reaches },
                FactRule("damage that no durable-to contradicts is a torn batch", .nothing) {
                    !$0.isWhole && !$0.claimsDurable
                },
            ])
        #expect(table.check(\.answer) == 20)
    }

    @Test("every fact of a damaged batch has the answer of its rule")
    func damagedBatch() {
        var all: [DamagedBatchFacts] = []
        for claims in Self.bools {
            for reaches in Self.bools {
                for isSealed in Self.bools {
                    for payload in DamagedBatchFacts.Payload.allCases {
                        all.append(
                            DamagedBatchFacts(
                                claimsDurable: claims, reaches: reaches, isSealed: isSealed, payload: payload))
                    }
                }
            }
        }
        let isExamined = { (facts: DamagedBatchFacts) in facts.payload == .whole || facts.payload == .lost }
        let table = FactTable<DamagedBatchFacts, DamagedBatchFacts.Answer>(
            all: all,
            impossible: [
                ("a claim about records after the chain is past the slot's LSN", { $0.claimsDurable && !$0.reaches }),
                (
                    "replay examines a payload only if it decides",
                    {
                        isExamined($0) && (!$0.isSealed || !$0.reaches || $0.claimsDurable)
                    }
                ),
            ],
            rules: [
                FactRule("a batch that ends before the slot's LSN proves nothing", .nothing) { !$0.reaches },
                FactRule("a durable record is missing", .contradiction) { $0.claimsDurable },
                FactRule("in a plain log the header suffices", .proof) {
                    $0.reaches && !$0.claimsDurable && !$0.isSealed
                },
                FactRule("in an encrypted log replay also decrypts the payload", .examinePayload) {
                    $0.reaches && !$0.claimsDurable && $0.isSealed && $0.payload == .unexamined
                },
                FactRule("replay may have corrected one flipped bit", .proof) { $0.payload == .whole },
                FactRule("a forger without the key can write a header", .nothing) { $0.payload == .lost },
                FactRule("a limit on work: without a proof the log is an older copy", .giveUp) {
                    $0.reaches && !$0.claimsDurable && $0.isSealed && $0.payload == .beyondLimit
                },
            ])
        #expect(table.check(\.answer) == 14)
    }
}

/// Compares the choice of the header slot in force with the rules.
@Suite struct SlotFactsTests {
    private static let bools = [false, true]

    @Test("two places for slots have the answer of their rule, whatever either holds")
    func twoPlaces() {
        typealias Kind = HeaderSlot.Decoded.Kind
        /// ``SlotKinds/Answer``, with each place's number as a case of its own.
        enum Expected: Hashable {
            case compare, first, second, new, key, version0, version1, damaged0, damaged1, foreign
        }
        func kinds(_ pair: SlotKinds) -> [Kind] { [pair.first, pair.second] }
        func readable(_ pair: SlotKinds) -> Bool { !kinds(pair).contains { $0 == .sealed || $0 == .otherVersion } }
        let table = FactTable<SlotKinds, Expected>(
            all: Kind.allCases.flatMap { first in Kind.allCases.map { SlotKinds(first, $0) } },
            impossible: [],
            rules: [
                FactRule("an encrypted slot needs a key", .key) { kinds($0).contains(.sealed) },
                FactRule("an intact slot of another version is another format's file", .version0) {
                    $0.first == .otherVersion && $0.second != .sealed
                },
                FactRule("the same for the second place, if the first one has no such slot", .version1) {
                    $0.second == .otherVersion && $0.first != .sealed && $0.first != .otherVersion
                },
                FactRule("two valid slots: their facts decide", .compare) { kinds($0) == [.valid, .valid] },
                FactRule("the only valid slot", .first) {
                    readable($0) && $0.first == .valid && $0.second != .valid
                },
                FactRule("the only valid slot, in the other place", .second) {
                    readable($0) && $0.first != .valid && $0.second == .valid
                },
                FactRule("zeros in both places: no process wrote a slot", .new) { kinds($0) == [.empty, .empty] },
                FactRule("no slot is valid, and the first place has a damaged one", .damaged0) {
                    readable($0) && $0.first == .damaged && $0.second != .valid
                },
                FactRule("no slot is valid, and only the second place has a damaged one", .damaged1) {
                    readable($0) && $0.second == .damaged && $0.first != .valid && $0.first != .damaged
                },
                FactRule("another program's bytes, and no slot", .foreign) { pair in
                    kinds(pair).contains(.foreign) && kinds(pair).allSatisfy { $0 == .foreign || $0 == .empty }
                },
            ])
        let possible = table.check { pair in
            switch pair.answer {
            case .compare: .compare
            case .first: .first
            case .second: .second
            case .newStore: .new
            case .keyRequired: .key
            case .otherVersion(let index): index == 0 ? .version0 : .version1
            case .damaged(let index): index == 0 ? .damaged0 : .damaged1
            case .notAStore: .foreign
            }
        }
        #expect(possible == 36)
    }

    @Test("two valid slots are compared by the rules of their facts")
    func twoValidSlots() {
        var all: [SlotFacts] = []
        for checkpoint in SlotFacts.Order.allCases {
            for bits in 0..<32 {
                all.append(
                    SlotFacts(
                        isOneStore: bits & 1 != 0, hasSameSequence: bits & 2 != 0, checkpoint: checkpoint,
                        isSameState: bits & 4 != 0, isEqual: bits & 8 != 0, isOpen: bits & 16 != 0))
            }
        }
        let table = FactTable<SlotFacts, Bool>(
            all: all,
            impossible: [
                (
                    "a state names its store and its checkpoint",
                    {
                        $0.isSameState && (!$0.isOneStore || $0.checkpoint != .same)
                    }
                ),
                ("equal slots are equal in each field", { $0.isEqual && (!$0.isSameState || !$0.hasSameSequence) }),
            ],
            rules: [
                FactRule("slots of two stores are damage", false) { !$0.isOneStore },
                FactRule("a newer slot with an older checkpoint is damage", false) { $0.checkpoint == .less },
                FactRule("each write has a sequence of its own", false) { $0.hasSameSequence && !$0.isEqual },
                FactRule("a slot that a program copied to the other place names the same bytes", true) { $0.isEqual },
                FactRule("two clean slots that lead to different bytes are damage", false) {
                    !$0.isOpen && !$0.isSameState
                },
                FactRule("a clean close, or a crash within it", true) {
                    $0.isSameState && !$0.hasSameSequence
                },
                FactRule("a session that required a log, or had none", true) {
                    $0.isOpen && $0.isOneStore && !$0.hasSameSequence && $0.checkpoint != .less
                },
            ])
        #expect(table.check(\.mayStandTogether) == 30)
    }
}

/// Compares what recovery does with the files of an earlier process with the rules.
@Suite struct RecoveryFactsTests {
    @Test("a log that no slot requires has the answer of its rule")
    func logNotRequired() {
        var all: [LeftLogFacts] = []
        for base in LeftLogFacts.Order.allCases {
            for contents in LeftLogFacts.Contents.allCases {
                for bits in 0..<4 {
                    all.append(
                        LeftLogFacts(
                            isOwn: bits & 1 != 0, base: base, isOtherSlotLost: bits & 2 != 0, contents: contents))
                }
            }
        }
        let table = FactTable<LeftLogFacts, LeftLogFacts.Answer>(
            all: all,
            impossible: [
                (
                    "recovery opens a log only if its contents may decide",
                    {
                        $0.contents != .unexamined && ($0.isOtherSlotLost || !$0.isOwn || $0.base == .less)
                    }
                ),
                (
                    "recovery does not replay a log with a newer base",
                    {
                        $0.base == .greater && ($0.contents == .empty || $0.contents == .commits)
                    }
                ),
            ],
            rules: [
                FactRule("another store's log", .ignore) { !$0.isOwn },
                FactRule("a log that a newer checkpoint covers", .ignore) { $0.base == .less },
                FactRule("one slot does not verify, and the log has this checkpoint as base", .require) {
                    $0.isOwn && $0.isOtherSlotLost && $0.base == .same
                },
                FactRule("one slot does not verify, and the log has a newer base", .damage) {
                    $0.isOwn && $0.isOtherSlotLost && $0.base == .greater
                },
                FactRule("both slots verify: recovery opens the log", .open) {
                    $0.isOwn && !$0.isOtherSlotLost && $0.base != .less && $0.contents == .unexamined
                },
                FactRule("no slot ever required an unfinished log", .ignore) { $0.contents == .unreadable },
                FactRule("a log with a newer base: the data file is older than its log", .damage) {
                    $0.base == .greater && $0.contents == .opened
                },
                FactRule("a log with this base: its batches decide", .replayOnTrial) {
                    $0.base == .same && $0.contents == .opened
                },
                FactRule("a batch that a replay would apply or find missing", .damage) { $0.contents == .commits },
                FactRule("a crash interrupted a recovery without a replay", .ignore) { $0.contents == .empty },
            ])
        #expect(table.check(\.answer) == 18)
    }

    @Test("recovery does what the rule for its facts says")
    func whatRecoveryDoes() {
        let all = (0..<32).map { bits in
            RecoveryFacts(
                isLogRequired: bits & 1 != 0, isClean: bits & 2 != 0, hasLeftLog: bits & 4 != 0,
                isReadOnly: bits & 8 != 0, isPersistent: bits & 16 != 0)
        }
        let table = FactTable<RecoveryFacts, RecoveryFacts.Answer>(
            all: all,
            impossible: [
                ("clean slots require no log", { $0.isClean && $0.isLogRequired }),
                ("a required log is not left over", { $0.hasLeftLog && $0.isLogRequired }),
                ("a store in memory has no files", { !$0.isPersistent && ($0.hasLeftLog || $0.isLogRequired) }),
            ],
            rules: [
                FactRule("the header says that a log is required", .replay) { $0.isLogRequired },
                FactRule("no slot requires a log, and the slots are not both clean and alike", .settle) {
                    !$0.isLogRequired && !$0.isClean && !$0.isReadOnly && $0.isPersistent
                },
                FactRule("there is a log that no slot requires", .settle) { $0.hasLeftLog && !$0.isReadOnly },
                FactRule("a session that changes nothing writes nothing", .nothing) { $0.isClean && !$0.hasLeftLog },
                FactRule("a read-only store writes nothing", .nothing) { $0.isReadOnly && !$0.isLogRequired },
                FactRule("nothing to complete in memory", .nothing) { !$0.isPersistent },
            ])
        #expect(table.check(\.answer) == 14)
    }
}
