import RunRecords

/// Judges the sum of increments of one number when nothing else is known: the number of effective increments is at
/// least that of the acknowledged ones and at most that of the attempted ones. With every read and write known, a
/// checker of histories finds more.
package enum IncrementSum {
    package static func judge(
        initial: Int64, acknowledged: Int64, attempted: Int64, final: Int64
    ) -> (outcome: Outcome, detail: String) {
        let (done, isNone) = final.subtractingReportingOverflow(initial)
        if isNone { return (.silentlyWrong, "the number is \(final)") }
        if done < acknowledged {
            return (.lostCommit, "\(acknowledged - done) of \(acknowledged) acknowledged increments are lost")
        }
        if done > attempted {
            return (.silentlyWrong, "\(done) increments are there, but only \(attempted) were attempted")
        }
        return (.correct, "")
    }
}
