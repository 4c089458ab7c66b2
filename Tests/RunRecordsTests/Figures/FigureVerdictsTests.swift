import Files
import FilesTests
import JSONText
import Seeds
import Testing

@testable import RunRecords

@Suite struct FigureVerdictsTests {
    private let machine = RunDirectoryTests.header([]).machine

    private func verdict(_ engine: String, _ ratio: Double, label: String = "") -> FigureVerdict {
        FigureVerdict(
            name: "commit, prepared", workload: "commit", engine: engine,
            parameters: [CaseParameter(name: "file", value: "prepared")], metric: "commits_per_second", label: label,
            ratio: ratio)
    }

    @Test("a figure is off outside a tenth on either side")
    func bounds() {
        #expect([0.89, 1.11, 0, .nan].allSatisfy { verdict("lmdb", $0).isOff })
        #expect([0.9, 1, 1.1].allSatisfy { !verdict("lmdb", $0).isOff })
    }

    @Test("the later verdict on a figure counts, and those on others stay")
    func latest() {
        var verdicts = FigureVerdicts()
        verdicts.note([verdict("lmdb", 0.5), verdict("sqlite", 0.8)], build: "a", machine: machine)
        verdicts.note([verdict("lmdb", 0.97), verdict("lmdb", 0.7, label: "with close")], build: "a", machine: machine)
        let found = verdicts.figures(build: "a", machine: machine)
        #expect(Set(found.map(\.ratio)) == [0.8, 0.97, 0.7])
    }

    @Test("another build or machine has its own verdicts")
    func apart() {
        var verdicts = FigureVerdicts()
        verdicts.note([verdict("lmdb", 0.5)], build: "a", machine: machine)
        var other = machine
        other.processor = "another"
        #expect(verdicts.figures(build: "b", machine: machine).isEmpty)
        #expect(verdicts.figures(build: "a", machine: other).isEmpty)
        // The time of a sync varies on one machine, so another time does not mean another machine.
        other = machine
        other.fsyncNanoseconds += 1
        #expect(verdicts.figures(build: "a", machine: other).count == 1)
    }

    @Test("a file round-trips, and a damaged one is an error")
    func stored() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/verified-figures.json"
        #expect(try FigureVerdicts.read(path) == FigureVerdicts())
        var verdicts = FigureVerdicts()
        verdicts.note([verdict("lmdb", 0.5), verdict("sqlite", 1.25)], build: "a", machine: machine)
        verdicts.note([verdict("lmdb", 0.75)], build: "b", machine: machine)
        try verdicts.write(path)
        #expect(try FigureVerdicts.read(path) == verdicts)
        let bytes = try FileTree.readBytes(path)
        for length in stride(from: 0, to: bytes.count - 2, by: 7) {
            try FileTree.writeBytes(path, Array(bytes.prefix(length)))
            #expect(throws: (any Error).self) { try FigureVerdicts.read(path) }
        }
    }

    @Test("a run records its doubtful figures")
    func header() throws {
        var header = RunDirectoryTests.header([])
        header.doubtfulFigures = [DoubtfulFigure(test: "0123", label: "with close", ratio: 0.5)]
        let json = try JSONObjectReader(try JSONReader.read(header.json.bytes), path: "run.json")
        #expect(try RunHeader(json: json) == header)
    }
}
