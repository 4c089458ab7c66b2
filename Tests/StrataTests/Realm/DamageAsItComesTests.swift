import Foundation
import Strata
import Testing

/// Reports and answers that a program with default settings receives from a damaged file: one bit flipped in each page
/// in turn, each page zeroed, and ranges of the file overwritten.
@Suite struct DamageAsItComesTests {
    private struct Trial {
        var answers: [String: String] = [:]
        /// Queries that returned another answer than the undamaged file before any damage was reported.
        var silent: [String] = []
        var differs = false
        var wrote = false
        var isRefused = false
    }

    private static func ask(
        _ shelf: DamagedShelf, _ expected: [String: String], inReverse: Bool = false
    ) -> Trial {
        var trial = Trial()
        let heard = Locked(0)
        do {
            let realm = try Realm(configuration: shelf.configuration { _ in heard.with { $0 += 1 } })
            for (name, answer) in inReverse ? DamagedShelf.questions.reversed() : DamagedShelf.questions {
                do {
                    let given = try answer(realm)
                    trial.answers[name] = given
                    if given == expected[name] { continue }
                    trial.differs = true
                    if heard.current == 0 { trial.silent.append(name) }
                } catch { trial.differs = true }
            }
            do {
                try realm.write { realm.add(ShelfNote(value: ["id": -1])) }
                trial.wrote = true
            } catch {}
            // Once the realm knows of damage these three agree. Earlier queries make no difference.
            for name in ["count", "loop", "index"] {
                trial.answers[name] = try DamagedShelf.questions.first { $0.name == name }?.answer(realm)
            }
        } catch { trial.isRefused = true }
        return trial
    }

    private static func expected(_ shelf: DamagedShelf) throws -> [String: String] {
        try shelf.damage { _ in }
        let realm = try Realm(configuration: shelf.configuration())
        return try Dictionary(uniqueKeysWithValues: DamagedShelf.questions.map { ($0.name, try $0.answer(realm)) })
    }

    private static func check(_ trial: Trial, _ what: String) {
        #expect(trial.silent.isEmpty, "\(what): wrong answers without a report: \(trial.silent)")
        if trial.isRefused || !trial.differs { return }
        #expect(!trial.wrote, "\(what): a write was committed on top")
        let turns = trial.answers["loop"]?.split(separator: " ").first.map(String.init)
        #expect(trial.answers["count"] == turns, "\(what): count and loop")
        #expect(trial.answers["loop"] == trial.answers["index"], "\(what): loop and index")
    }

    enum Harm: String, CaseIterable { case flip, zero, stretches }

    @Test(
        "after damage of any page each answer of a session is right, or its damage was reported",
        arguments: [false, true], Harm.allCases)
    func everyPage(isEncrypted: Bool, _ harm: Harm) throws {
        let shelf = try DamagedShelf(key: isEncrypted ? Data(repeating: 7, count: 64) : nil)
        let expected = try Self.expected(shelf)
        var differing = 0
        for page in 0..<(harm == .stretches ? 12 : shelf.pageCount) {
            var random = SplitMix(seed: UInt64(page))
            try shelf.damage { bytes in
                let start = 8192 + page * shelf.pageBytes
                switch harm {
                case .flip: bytes[start + random.next(below: 4096)] ^= 1 << UInt8(random.next(below: 8))
                case .zero: bytes.replaceSubrange(start..<(start + shelf.pageBytes), with: Data(count: shelf.pageBytes))
                case .stretches:
                    for _ in 0..<(1 + page % 3) {
                        let at = 8192 + random.next(below: bytes.count - 8192 - 5000)
                        bytes.replaceSubrange(at..<(at + 5000), with: Data(repeating: 0xA5, count: 5000))
                    }
                }
            }
            let trial = Self.ask(shelf, expected, inReverse: page % 2 == 1)
            if trial.differs { differing += 1 }
            Self.check(trial, "\(harm.rawValue) of page \(page)")
        }
        // A smaller number would mean that the queries do not read the damaged pages.
        #expect(differing > (harm == .stretches ? 0 : shelf.pageCount / 2))
    }
}

/// Numbers that follow from a seed.
private struct SplitMix {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
    mutating func next(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(bound))
    }
}
