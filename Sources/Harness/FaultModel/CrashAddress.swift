/// The moment of a power failure, and what had reached the disk: enough to rebuild exactly that disk.
///
/// The canonical form is `crash:op=17,state=0x3fa2`; a crash during the following recovery is a further step,
/// `crash:op=17,state=0x3fa2/op=3,state=0x1`. Where only the process died, and caches survived, a step has no state,
/// `crash:op=17,kill/op=21,state=0x1`, and the numbering of operations continues for the next process.
package struct CrashAddress: Hashable, Sendable, CustomStringConvertible {
    package struct Step: Hashable, Sendable {
        /// The number of recorded operations before it: operation number `operation` did not happen.
        package var operation: Int
        package var state: StateMask
        /// Only the process died: all data, cached or not, is still there.
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

    /// Parses the canonical form; nil for any other text.
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
