import Commands
import Files
import Harness
import JSONText
import RunRecords
import Seeds
import Statistics

/// Measures one case of two programs in a paired session, and writes the raw measurements to a file.
struct SessionMeasuring {
    let planned: PlannedCase
    let registries: Registries
    let claim: RunClaim
    let known: [KnownViolation]
    let pairs: Int
    let threshold: Double
    let seed: Seed

    /// The result of a session.
    struct Outcome {
        var finding: SideComparison.Finding
        var reason: String
        var compared: ComparedCase
        var comparison: SideComparison? { compared.batches.first?.judged.measured }
    }

    /// - Parameter file: the file of raw measurements below the claim's directory; it is overwritten. Throws:
    /// `ComparisonInterrupted`.
    func measure(_ a: DescribedProgram, _ b: DescribedProgram, file: String) throws -> Outcome {
        let path = claim.directory.path + "/" + file
        try FileTree.remove(path)
        let work = claim.directory.workDirectory
        defer { do { try FileTree.remove(work) } catch { Output.error("left behind: \(error)") } }
        var programs = try SidePrograms(
            a: a, b: b, planned: [planned], registries: (registries, registries), directory: work,
            plan: Plan(name: "bisect", file: "the command line"), known: known)
        let session = PairedSession(
            cases: [planned.test], pairs: pairs, threshold: threshold, seed: seed.derived(file))
        let compared = try session.run(
            measure: { side, test, place in
                try programs.measure(side, test, place: place, seconds: ComparisonOptions.secondsPerCase)
            },
            record: { try FileTree.append(path, $0.json.bytes + [UInt8(ascii: "\n")]) },
            renew: { try programs.renew($0) }, observer: SessionProgress())
        guard let result = compared.cases.first else {
            let nothing = ComparedCase(test: planned.test, batches: [], failure: nil, confirms: true)
            return Outcome(
                finding: .inconclusive, reason: compared.refused.first?.reason ?? "nothing was compared",
                compared: nothing)
        }
        let (finding, reason) = result.conclusionAlone
        return Outcome(finding: finding, reason: reason, compared: result)
    }
}
