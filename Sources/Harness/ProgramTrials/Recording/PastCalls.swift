/// The calls that bypassed the recorder, as reported by the kernel.
package struct PastCalls: Sendable {
    /// A program that a process executes, as far as it is known beforehand.
    package struct Program: Sendable {
        package var name: String
        /// Statically linked: no loader loads it or the recorder.
        package var isStatic = false
        /// By its permissions (set-user-ID): the loader does not preload the recorder into it, or the program does not
        /// get its rights under the filter.
        package var gainsRights = false
    }

    /// As text, without duplicates.
    package private(set) var reasons: [String] = []
    /// By process, in order.
    package private(set) var executed: [UInt32: [Program]] = [:]

    package init() {}

    package mutating func note(_ reason: String) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }

    package mutating func note(_ program: Program, by process: UInt32) {
        if program.gainsRights {
            note("\(program.name) was executed, which has rights of its own (set-user-ID)")
        } else {
            executed[process, default: []].append(program)
        }
    }

    /// Executed programs that did not load the recorder, as text.
    ///
    /// - Parameter loaded: how often each process loaded it.
    package func withoutRecorder(_ loaded: [UInt32: Int]) -> [String] {
        var found: [String] = []
        for (process, programs) in executed.sorted(by: { $0.key < $1.key })
        where loaded[process, default: 0] < programs.count {
            // At least one of them did not: a statically linked one, or else the last.
            let missing = programs.filter(\.isStatic)
            for program in missing.isEmpty ? programs.suffix(1) : missing[...] {
                let why =
                    program.isStatic
                    ? "it is linked statically" : "its environment does not say so, or it ended before it could"
                let text = "\(program.name) was executed and did not load the recorder: \(why)"
                if !found.contains(text) { found.append(text) }
            }
        }
        return found
    }
}
