import Datasets
import Harness
import ModelEngine
import RunRecords
import Seeds
import Testing
import Zoo

@testable import Scenarios

/// Scenarios find the mistakes of a planted engine.
@Suite struct PlantedEngineTests {
    static let cases: [(EngineMistake, String, [String: String])] = [
        (.lostIncrement, "lost-update", ["threads": "2", "increments": "20"]),
        (.rowDropped, "commit", ["commits": "10"]),
        (.rowDropped, "commit-threads", ["threads": "2", "commits": "10"]),
        (.rowDropped, "bulk-insert", ["rounds": "1"]),
        (.lastByte, "commit", ["commits": "10"]),
        (.rowTwice, "commit", ["commits": "10"]),
        (.wrongRead, "point-read", [:]),
        (.wrongRead, "property-read", ["held": "10"]),
        (.wrongRead, "string-equal", [:]),
        (.wrongRead, "traverse", [:]),
        (.wrongRead, "column-sum", [:]),
        (.wrongRead, "filter-two", [:]),
        (.wrongRead, "iterate", [:]),
        (.wrongMeanwhile, "point-read", [:]),
        (.wrongMeanwhile, "property-read", ["held": "10"]),
        (.wrongMeanwhile, "string-equal", [:]),
        (.wrongMeanwhile, "traverse", [:]),
        (.wrongMeanwhile, "column-sum", [:]),
        (.wrongMeanwhile, "filter-two", [:]),
        (.wrongMeanwhile, "iterate", [:]),
        (.updateLost, "ycsb-a", ["operations": "400"]),
        (.scanShort, "ycsb-e", ["operations": "100"]),
        (.incrementStale, "ycsb-f", ["operations": "400"]),
        (.lostIncrement, "writer-starvation", ["greedy": "2", "waits": "5"]),
        (.unpinned, "pinned-reader", ["transactions": "2", "updates": "200"]),
        (.unpinned, "update-batch", ["transactions": "2", "updates": "200", "readers": "1"]),
    ]

    @Test("the mistake is found", arguments: cases)
    func mistakeIsSeen(mistake: EngineMistake, slug: String, parameters: [String: String]) throws {
        let scenario = try ScenarioRunTests.scenario(slug)
        let dataset = slug == "traverse" ? "people-dogs" : nil
        let engine = PlantedEngine.wrap(ModelEngine(), mistake)
        let report: CaseReport
        do {
            report = try CaseUnderTest.run(scenario, on: engine, dataset: dataset, parameters: parameters)
        } catch let error as EngineError {
            // A missing row may also show as an error of a read by key.
            #expect(mistake == .rowDropped, "\(error)")
            return
        }
        let wrong = report.outcomes.filter { !scenario.accepts.contains($0.key) }
        #expect(!wrong.isEmpty, "\(report.outcomes)")
    }

    @Test("a full read has the mistake, and nothing else", arguments: EngineMistake.content)
    func readsAreAltered(mistake: EngineMistake) throws {
        let tables = try PeopleDataset(name: "people-dogs", dogsPerPerson: 4).tables(size: 20, seed: Seed(1))
        try EnginesUnderTest.withDirectory { directory in
            let location = DatabaseLocation(directory: directory)
            let engine = ModelEngine()
            let loading = try #require(
                try engine.open(location, settings: engine.settings(for: .none)) as? any TableSession)
            try loading.load(tables)
            let sound = Rows()
            try loading.readAll(tables, into: sound)
            let planted = PlantedEngine.wrap(engine, mistake)
            let session = try #require(
                try planted.open(location, settings: engine.settings(for: .none)) as? any TableSession)
            let rows = Rows()
            try session.readAll(tables, into: rows)
            try session.close()
            try loading.close()
            let differences = zip(sound.rows, rows.rows).count { $0 != $1 }
            switch mistake {
            case .rowDropped: #expect(rows.rows.count == sound.rows.count - 1)
            case .rowTwice: #expect(rows.rows.count == sound.rows.count + 1)
            case .lastByte, .linkSwapped: #expect(differences == 1 && rows.rows.count == sound.rows.count)
            default: #expect(differences == 0 && rows.rows.count == sound.rows.count)
            }
        }
    }

    private final class Rows: RowSink {
        var rows: [[Value]] = []

        func receive(table: String, row: Int, values: [Value]) -> Bool {
            rows.append(values)
            return true
        }
    }
}
