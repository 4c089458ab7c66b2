/// Where power went, and what had reached the disk by then: enough to build exactly that disk again.
///
/// The canonical form is `crash:op=17,state=0x3fa2`; a crash during the recovery that followed is a further step,
/// `crash:op=17,state=0x3fa2/op=3,state=0x1`. Where only the process died, and caches lived on, a step has no state,
/// `crash:op=17,kill/op=21,state=0x1`, and the operations of the next process are counted on from there.
package struct CrashAddress: Hashable, Sendable, CustomStringConvertible {
    package struct Step: Hashable, Sendable {
        /// How many recorded operations had been asked for: operation number `operation` never happened.
        package var operation: Int
        package var state: StateMask
        /// The process died and power stayed: everything is still where it was.
        package var isKill: Bool

        package init(operation: Int, state: StateMask, isKill: Bool = false) {
            self.operation = operation
            self.state = state
            self.isKill = isKill
        }

        package static func kill(_ operation: Int) -> Step {
            Step(operation: operation, state: StateMask(), isKill: true)
        }
    }

    package var steps: [Step]

    package init(_ steps: [Step]) { self.steps = steps }

    package func appending(_ step: Step) -> CrashAddress { CrashAddress(steps + [step]) }

    package func appending(_ other: CrashAddress) -> CrashAddress { CrashAddress(steps + other.steps) }

    package var description: String {
        "crash:" + steps.map { "op=\($0.operation),\($0.isKill ? "kill" : "state=\($0.state)")" }.joined(separator: "/")
    }

    /// Reads the canonical form back; nil for anything else.
    package init?(_ text: String) {
        guard text.hasPrefix("crash:") else { return nil }
        steps = []
        for part in text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false) {
            let fields = part.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == 2, fields[0].hasPrefix("op="), let operation = Int(fields[0].dropFirst(3)),
                operation >= 0
            else { return nil }
            if fields[1] == "kill" {
                steps.append(.kill(operation))
                continue
            }
            guard fields[1].hasPrefix("state="), let state = StateMask(fields[1].dropFirst(6)) else { return nil }
            steps.append(Step(operation: operation, state: state))
        }
        guard description == text else { return nil }
    }
}
