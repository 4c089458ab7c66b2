import JSONText

/// What it costs when a promise is broken. The two are counted apart: who waits for ever has lost nothing.
package enum Concern: String, Sendable, CaseIterable {
    /// Something is lost or wrong, or a process is ended: no waiting mends it.
    case safety
    /// Somebody waits longer, or needs more room, than was said.
    case progress
}

/// How much of the others a transaction may see: from weak to strong, each level forbids what those before it forbid.
package enum IsolationLevel: String, Sendable, CaseIterable, Comparable {
    /// Nothing is read that was not committed, or that its transaction wrote over.
    case readCommitted = "read-committed"
    /// A transaction reads one version, and of two that write the same only one commits.
    case snapshot
    /// What all transactions did fits some order of them.
    case serializable
    /// The same, and that order keeps to real time: what began after another one's end comes behind it.
    case strictSerializable = "strict-serializable"

    package static func < (a: IsolationLevel, b: IsolationLevel) -> Bool {
        (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
    }
}

/// A promise that a case tried, and what the case says of it.
package struct JudgedPromise: Hashable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        case kept
        case broken
        /// Broken as a known violation says.
        case known
        /// The engine never made it: nothing that happened can break it, and nothing can keep it.
        case notMade = "not-made"
        /// The case came to no conclusion about it.
        case open
    }

    /// Such as `durability`; empty for what every engine has to get right.
    package var kind: String
    package var concern: Concern
    package var state: State

    package init(kind: String, concern: Concern, state: State) {
        self.kind = kind
        self.concern = concern
        self.state = state
    }
}

extension JudgedPromise {
    package var json: JSONValue {
        .object([
            JSONMember("kind", .string(kind)), JSONMember("concern", .string(concern.rawValue)),
            JSONMember("state", .string(state.rawValue)),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            kind: try json.string("kind"), concern: try json.choice("concern", of: Concern.self),
            state: try json.choice("state", of: State.self))
    }
}

extension JudgedPromise {
    /// Of several measurements of a case: what one of them broke is broken.
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
    /// For a case without a conclusion: it says of no promise that it was kept or broken.
    package mutating func leavePromisesOpen() {
        for index in promises.indices where promises[index].state != .notMade { promises[index].state = .open }
    }

    /// What a violation costs, a known one as well: safety where any promise of safety is broken. Runs from before
    /// promises were judged say it by their outcome.
    package var brokenConcern: Concern {
        let broken = promises.filter { $0.state == .broken || $0.state == .known }
        if broken.isEmpty { return outcome == .hung || outcome == .overSize ? .progress : .safety }
        return broken.contains { $0.concern == .safety } ? .safety : .progress
    }
}
