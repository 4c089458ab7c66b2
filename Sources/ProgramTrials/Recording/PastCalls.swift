/// What the kernel told of calls that went past the recorder.
package struct PastCalls: Sendable {
    /// A program that a process executed, as far as it can be told before it happens.
    package struct Program: Sendable {
        package var name: String
        /// No loader loads it, and so none of ours before it.
        package var isStatic = false
        /// By its permissions (set-user-ID): the loader does not let such a program be recorded, or the program does
        /// not get its rights where it is.
        package var gainsRights = false
    }

    /// In words, each once.
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

    /// Programs that were executed and did not load the recorder, in words.
    ///
    /// - Parameter loaded: how often a process did.
    package func withoutRecorder(_ loaded: [UInt32: Int]) -> [String] {
        var found: [String] = []
        for (process, programs) in executed.sorted(by: { $0.key < $1.key })
        where loaded[process, default: 0] < programs.count {
            // One of them at least: the one that cannot have, or the last.
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
