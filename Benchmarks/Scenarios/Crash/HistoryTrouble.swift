import Measuring
import ProgramTrials

/// What befalls a process that plays a history. Nobody but that process has it: who looks afterwards has none.
struct HistoryTrouble {
    /// A call of it that fails, or that it is killed at.
    var fault: CallFault?
    /// Whether it closes at its end, or leaves the database as a kill would.
    var closes = true
    /// Done by the process before it opens anything: a limit that it sets itself.
    var begin: (() throws -> Void)?
    /// Done by the process when it has played all that it can: from then on a transaction has to go through. The last
    /// two operations of the history are kept for that.
    var lift: (() throws -> Void)?
    /// The signal by which the system itself ends who meets the trouble.
    var signal: Int32?
    /// Whether the process looks what it needs of what can be limited.
    var isMeasured = false

    init() {}

    init(_ fault: CallFault) {
        self.fault = fault
        // Every other fault leaves the database as a kill would: what was acknowledged in memory alone is missing then.
        if case .fails(_, let number, _, _) = fault { closes = number % 2 == 0 }
    }

    var isThere: Bool { fault != nil || begin != nil }

    /// Calls that it struck, or that the kernel denied, by the counts that the process shares.
    func strikes(_ witness: IOWitness) -> Int { witness.faultCount(fault == nil ? "denied" : "struck") }
}
