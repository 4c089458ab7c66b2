import Measuring
import ProgramTrials

/// A fault for the process that plays a script. The process that judges the result does not have it.
struct ScriptFault {
    /// A call that fails, or at which the process is killed.
    var call: CallFault?
    /// Whether the process closes the database at its end, or leaves it as a kill would.
    var closes = true
    /// Called by the process before it opens anything, to set a limit for itself.
    var begin: (() throws -> Void)?
    /// Called by the process when it has played all that it can, to lift the fault. From then on a transaction must
    /// succeed; the last two operations of the script are kept for that.
    var lift: (() throws -> Void)?
    /// The signal with which the kernel itself ends a process that meets the fault.
    var signal: Int32?
    /// Whether the process measures its use of limited resources.
    var isMeasured = false

    init() {}

    init(_ call: CallFault) {
        self.call = call
        // Calls with odd numbers leave the database as a kill would, which loses what was acknowledged only in memory.
        if case .fails(_, let number, _, _) = call { closes = number % 2 == 0 }
    }

    var isThere: Bool { call != nil || begin != nil }

    /// Faults that were injected, or denials by the kernel, from the counts in shared memory.
    func strikes(_ witness: IOWitness) -> Int { witness.faultCount(call == nil ? "denied" : "struck") }
}
