import RunRecords

/// What increments of one number add up to, where nothing but the sum is known: their number lies between those that
/// were acknowledged and those that were attempted. Where every read and write is known a checker of histories says
/// more.
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
