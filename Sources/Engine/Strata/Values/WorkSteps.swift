import CStrataShim

/// Counts the rows, keys, entries, elements and observers that the running thread reads, for scenarios and tests that
/// bound the growth of work.
///
/// Each of them is one step, whatever it costs: a clock measures cost.
package enum WorkSteps {
    /// Since the thread began.
    package static var taken: UInt64 { strata_steps_taken() }

    static func note(_ count: Int) { strata_note_steps(count) }
}
