import Dispatch
import Testing

@testable import Strata

/// A frozen Realm that several threads read when damage of its file becomes known.
@Suite struct SharedDamageTests {
    /// The thread sanitizer finds the planted mistake: `ReadFailures.adopt` sets the last collection of a frozen
    /// instance, too.
    @Test("threads that learn of damage at the same time change nothing of a frozen Realm")
    func damageLearnedTogether() throws {
        let realm = try makeRealm([Note.self])
        try realm.write { for rank in 0..<8 { realm.add(Note("note", rank: rank)) } }
        let frozen = realm.freeze()
        let shared = Carried(value: frozen.instance)
        let threads = 8
        let counts = Locked<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            for _ in 0..<20 { shared.value.failures.adopt() }
            let count = Realm(shared.value).objects(Note.self).count
            counts.with { $0.append(count) }
        }
        #expect(counts.current == Array(repeating: 8, count: threads))
        #expect(frozen.instance.failures.lastCollection == nil)
    }
}
