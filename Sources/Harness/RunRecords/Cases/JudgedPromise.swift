import JSONText

/// What a broken promise costs. The two kinds are counted apart: an engine that hangs has lost no data.
package enum Concern: String, JSONForm, Sendable, CaseIterable {
    /// Data is lost or wrong, or a process was ended: waiting does not help.
    case safety
    /// An operation takes more time, or a file more space, than promised.
    case progress
}

/// How much a transaction may see of others, from weak to strong: each level forbids all that the levels before it
/// forbid.
package enum IsolationLevel: String, JSONForm, Sendable, CaseIterable, Comparable {
    /// A read returns only committed values, and no intermediate ones.
    case readCommitted = "read-committed"
    /// A transaction reads one version, and of two transactions that write the same row only one commits.
    case snapshot
    /// The effects of all transactions are those of some serial order.
    case serializable
    /// The effects of all transactions are those of a serial order that respects real time: a transaction that began
    /// after another one had ended comes later.
    case strictSerializable = "strict-serializable"

    package static func < (a: IsolationLevel, b: IsolationLevel) -> Bool {
        (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
    }
}

/// A promise that a case tested, with the result.
package struct JudgedPromise: Hashable, Sendable {
    package enum State: String, JSONForm, Sendable, CaseIterable {
        case kept
        case broken
        /// Broken, in a way that the list of known violations has.
        case known
        /// The engine never made the promise, so that it can be neither kept nor broken.
        case notMade = "not-made"
        /// The case is inconclusive about the promise.
        case open
    }

    /// Such as `durability`; empty for what every engine must get right.
    package var kind: String
    package var concern: Concern
    package var state: State

    package init(kind: String, concern: Concern, state: State) {
        self.kind = kind
        self.concern = concern
        self.state = state
    }
}

extension JudgedPromise: JSONRecord {
    package static let blank = JudgedPromise(kind: "", concern: .safety, state: .open)
    package static let fields: [JSONField<JudgedPromise>] = [
        .member("kind", \.kind), .member("concern", \.concern), .member("state", \.state),
    ]
}

extension JudgedPromise {
    /// The promises of several measurements of a case: one that was broken in any measurement is broken.
    static func merged(_ measurements: [[JudgedPromise]]) -> [JudgedPromise] {
        let order: [State] = [.notMade, .kept, .open, .known, .broken]
        func rank(_ state: State) -> Int { order.firstIndex(of: state) ?? 0 }
        var list: [JudgedPromise] = []
        for promise in measurements.joined() {
            if let place = list.firstIndex(where: { $0.kind == promise.kind && $0.concern == promise.concern }) {
                if rank(promise.state) > rank(list[place].state) { list[place].state = promise.state }
            } else {
                list.append(promise)
            }
        }
        return list
    }
}

extension CaseResult {
    /// For a case that turned out inconclusive: no promise was kept or broken in it.
    package mutating func leavePromisesOpen() {
        for index in promises.indices where promises[index].state != .notMade { promises[index].state = .open }
    }

    /// What a violation cost, be it known or not: safety if any promise of safety was broken. Results that are older
    /// than judged promises have it by their outcome.
    package var brokenConcern: Concern {
        let broken = promises.filter { $0.state == .broken || $0.state == .known }
        if broken.isEmpty { return outcome == .hung || outcome == .overSize ? .progress : .safety }
        return broken.contains { $0.concern == .safety } ? .safety : .progress
    }
}
