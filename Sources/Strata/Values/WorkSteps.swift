import CStrataShim

/// How many rows, keys, entries, elements and observers the running thread has looked at, for scenarios and tests that
/// hold how work grows.
///
/// A step is one of these, whatever is done with it: what a step costs is for a clock to say.
package enum WorkSteps {
    /// Since the thread began.
    package static var taken: UInt64 { strata_steps_taken() }

    static func note(_ count: Int) { strata_note_steps(count) }
}
