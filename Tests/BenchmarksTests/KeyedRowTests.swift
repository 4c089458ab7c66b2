import Datasets
import Foundation
import Harness
import Measuring
import RunRecords
import Seeds
import Testing

@testable import Scenarios

/// Scenarios that read or write rows one at a time.
@Suite struct KeyedRowTests {
    typealias Rows = any KeyedRowSession & TableSession

    @Test(
        "every engine reads, scans, sets and increments single rows as the oracle does",
        arguments: EnginesUnderTest.names)
    func agreement(name: String) throws {
        let set = try PeopleDataset().tables(size: 40, seed: Seed(1))
        var oracle = ExactOracle(set)
        func digest(_ keys: Range<Int64>) -> ReadDigest {
            oracle.digest(PointReads(table: "Person", keys: Array(keys), columns: KeyedContent.rows.columns))
        }
        try EnginesUnderTest.withDirectory { directory in
            let engine = try EnginesUnderTest.engine(name)
            let session = try EnginesUnderTest.session(engine, in: directory, as: Rows.self)
            try session.load(set)
            #expect(throws: (any Error).self) { try session.readRow(1) }
            try session.prepareRows(KeyedContent.rows)
            for key: Int64 in [0, 7, 39] { #expect(try session.readRow(key) == digest(key..<(key + 1))) }
            for keys: Range<Int64> in [0..<1, 3..<20, 0..<40, 35..<60, 5..<5, 40..<50] {
                #expect(try session.readRows(keys) == digest(keys), "\(keys)")
            }
            // Another session sees a change at once, and has its own statements.
            let other = try EnginesUnderTest.session(engine, in: directory, as: Rows.self)
            try other.prepareRows(KeyedContent.rows)
            #expect(try other.readRow(7) == digest(7..<8))
            try session.setRow(7, to: 900)
            let before = try session.incrementRow(7)
            oracle.update(table: "Person", column: "age", keys: [7], values: [900])
            #expect(before == digest(7..<8))
            oracle.update(table: "Person", column: "age", keys: [7], values: [901])
            #expect(try other.readRow(7) == digest(7..<8))
            #expect(try other.readRows(6..<9) == digest(6..<9))
            #expect(throws: EngineError.self) { try session.incrementRow(40) }
            try other.close()
            try EngineAgreementTests.expectContent(session, oracle)
            try session.close()
        }
    }

    @Test("keys follow a Zipf distribution, spread over the table")
    func zipfian() {
        let zipfian = Zipfian(1_000)
        var random = RandomStream(Seed(1))
        var counts = [Int](repeating: 0, count: 1_000)
        for _ in 0..<100_000 { counts[zipfian.rank(&random)] += 1 }
        let sum = (1...1_000).reduce(0.0) { $0 + 1 / pow(Double($1), 0.99) }
        for rank in [0, 1, 9] {
            let wanted = 100_000 / pow(Double(rank + 1), 0.99) / sum
            #expect(abs(Double(counts[rank]) / wanted - 1) < 0.25, "rank \(rank)")
        }
        #expect(counts[500...].reduce(0, +) > 3_000)
        var scattered = Set<Int>()
        for _ in 0..<200 { scattered.insert(zipfian.scattered(&random) / 100) }
        #expect(scattered.count > 5)
        for count in 1...3 {
            let few = Zipfian(count)
            for _ in 0..<100 { #expect((0..<count).contains(few.rank(&random))) }
        }
    }

    @Test("a lane's requests are seeded, follow the mix, and change only its own rows")
    func stream() {
        let zipfian = Zipfian(101)
        func requests(_ mix: KeyedMix, lane: Int) -> [KeyedRequest] {
            var stream = RequestStream(mix, rows: 101, lane: lane, of: 3, zipfian: zipfian, seed: Seed(5))
            return stream.take(2_000)
        }
        for mix: KeyedMix in [.a, .b, .c, .d, .e, .f] {
            let first = requests(mix, lane: 1)
            let again = requests(mix, lane: 1)
            #expect(zip(first, again).allSatisfy { $0.key == $1.key && $0.operation == $1.operation })
            #expect(requests(mix, lane: 2).map(\.key) != first.map(\.key))
            for (operation, percent) in mix.shares {
                let count = first.count { $0.operation == operation }
                #expect(abs(count - percent * 20) < 100, "\(mix) \(operation)")
            }
            for request in first {
                switch request.operation {
                case .update: #expect(request.key % 3 == 1 && request.key < 101)
                case .insert: #expect((request.key - 101) % 3 == 1)
                case .scan: #expect(request.key >= 0 && request.key + request.value <= 101 && request.value > 0)
                case .read, .increment: #expect(request.key >= 0)
                }
            }
        }
        var read = Set<Int64>()
        for request in requests(.d, lane: 0) {
            if request.operation == .insert { read.insert(request.key) }
            if request.operation == .read { #expect(request.key < 101 || read.contains(request.key)) }
        }
    }

    @Test("an open loop does the same work as a closed one, and reports both times")
    func open() throws {
        let scenario = try ScenarioRunTests.scenario("ycsb-a")
        let engine = try EnginesUnderTest.engine("model")
        let report = try CaseUnderTest.run(
            scenario, on: engine, dataset: "people",
            parameters: [
                "operations": "100", "loop": "open", "saturation": "search", "windows": "1", "threads": "1",
                "late": "100000", "bound": "100000",
            ])
        #expect(report.outcomes.keys.allSatisfy { $0 == .correct })
        let histograms = report.details.histograms
        for name in ["response", "service", "read response", "update service"] {
            #expect(histograms.contains { $0.name == name }, "\(name)")
        }
        let (response, service) = (
            histograms.first { $0.name == "response" }, histograms.first { $0.name == "service" }
        )
        #expect(try #require(response).histogram.sum >= #require(service).histogram.sum)
        #expect(report.value("saturation_per_second") != nil)
    }
}
