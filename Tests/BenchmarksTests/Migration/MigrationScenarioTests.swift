import Harness
import RunRecords
import Seeds
import StoreMigration
import StrataEngine
import Testing

@testable import MigrationScenarios

/// Scenarios about leaving another store.
@Suite struct MigrationScenarioTests {
    private static func wrong(_ report: CaseReport) -> [String] {
        report.trials.map { "\($0.address): \($0.detail)" } + (report.isInconclusive ? report.messages : [])
    }

    @Test("reconcile, account switches and the import are right at a small size")
    func small() throws {
        var runs: [(any Scenario, [String: String])] = [
            (ReconciledStores(), ["rows": "1000", "divergences": "120"]),
            (SwitchedAccounts(), ["rows": "1000", "switches": "2"]),
        ]
        #if SQLite
            runs.append((ImportedCoreData(), ["rows": "6000"]))
        #endif
        for (scenario, parameters) in runs {
            let report = try CaseUnderTest.run(scenario, on: StrataEngine(), parameters: parameters)
            #expect(Self.wrong(report) == [], "\(scenario.slug)")
            #expect(report.outcomes.keys.allSatisfy { $0 == .correct } && !report.outcomes.isEmpty, "\(scenario.slug)")
        }
    }

    @Test("each combination of a double write has a reversible address")
    func addresses() {
        let all = DoubleWriteTrial.combinations
        #expect(all.count == 4 + 2 * 2 * 7 + 7)
        #expect(Set(all.map(\.address)).count == all.count)
        for combination in all {
            for call in [nil, 0, 17] {
                var trial = combination
                trial.call = call
                #expect(DoubleWriteTrial(trial.address) == trial)
            }
        }
        for text in ["kill:old,old-first,none", "kill:old,old-first,none,x", "bit:1", "kill:older,old-first,none,1"] {
            #expect(DoubleWriteTrial(FaultAddress(text: text)) == nil, "\(text)")
        }
    }

    @Test("acknowledged batches must be there, refused ones must not, and a missing answer allows both")
    func allowed() {
        let batches = DoubleWriteTrial.batches
        let before = DoubleWriteTrial.before
        let one = before.applying(batches[0])
        let (two, three) = (one.applying(batches[1]), one.applying(batches[1]).applying(batches[2]))
        func allowed(_ text: String, _ phase: MigrationPhase = .bothOldRead) -> [ContactBook] {
            DoubleWriteAnswers(text, phase: phase).allowed
        }
        #expect(allowed("") == [before])
        #expect(allowed("begun 0\n") == [before, one])
        #expect(allowed("begun 0\ndone 0\n") == [one])
        #expect(allowed("begun 0\nrefused 0\n") == [before])
        #expect(allowed("begun 0\ndone 0\nbegun 1\nwaiting 1\n") == [two])
        #expect(allowed("begun 0\ndone 0\nbegun 1\nunknown 1\nbegun 2\ndone 2\n") == [three])
        #expect(allowed("begun 0\ndone 0\nbegun 1\nunknown 1\n", .old) == [one, two])
        let answers = DoubleWriteAnswers("begun 0\ndone 0\nbegun 1\n", phase: .new)
        #expect(answers.isLost(before) && !answers.isLost(one) && !answers.isLost(two))
        // Each batch shows, in any order.
        #expect(Set([before, one, two, three].map { "\($0.rows.sorted { $0.key < $1.key })" }).count == 4)
        #expect(one.applying(batches[2]).applying(batches[1]) != three)
    }

    @Test("the planted differences cover each kind, and each is a single difference")
    func planted() {
        var random = RandomStream(Seed(7))
        let numbers = PlantedDivergences.numbers(48, upTo: 200, &random)
        #expect(Set(numbers).count == 48 && numbers.allSatisfy { $0 % 6 != 5 })
        let planted = PlantedDivergences(24, among: numbers, firstFree: 201) { ContactRow(number: $0) }
        #expect(Set(planted.rows.map(\.kind)).count == PlantedDivergences.Kind.allCases.count)
        #expect(Set(planted.ids).count == 24)
        #expect(planted.rows.allSatisfy { $0.old != $0.new })
        #expect(zip(planted.rows, planted.newest(tie: .old)).allSatisfy { $0.1 == $0.0.old || $0.1 == $0.0.new })
    }

    @Test("a finding round-trips through a pipe")
    func findings() {
        var finding = DoubleWriteFinding(.lostCommit, "contact 3\nis not there")
        (finding.found, finding.mended, finding.left) = (3, 2, 1)
        let read = DoubleWriteFinding(text: finding.text)
        #expect(read?.outcome == .lostCommit && read?.detail == finding.detail)
        #expect(read?.found == 3 && read?.mended == 2 && read?.left == 1)
        #expect(DoubleWriteFinding(text: "nonsense") == nil)
    }
}
