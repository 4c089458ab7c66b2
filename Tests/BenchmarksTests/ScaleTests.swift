import Datasets
import Files
import Foundation
import ModelEngine
import RunRecords
import Seeds
import Testing
import Zoo

@testable import Harness
@testable import Scenarios

/// Databases of many rows.
@Suite struct ScaleTests {
    static let sources: [any RangedDatasetSource] = [
        PeopleDataset(), WidePeopleDataset(), WidePeopleDataset.large,
    ]

    @Test("rows generated in pieces equal those of the whole")
    func piecesAreTheWhole() throws {
        for source in Self.sources {
            let whole = try source.tables(size: 50, seed: Seed(1)).main
            let piece = source.mainRows(20..<30)
            for row in 0..<10 { #expect(piece.values(row: row) == whole.values(row: row + 20), "\(source.name)") }
        }
    }

    @Test("a wide row has its size, and no two names share a prefix")
    func wideNames() throws {
        guard case .text(let names)? = WidePeopleDataset().mainRows(0..<100).column("name")?.values else {
            Issue.record("no names")
            return
        }
        #expect((0..<100).allSatisfy { names[$0].utf8.count == WidePeopleDataset().nameBytes })
        #expect(Set((0..<100).map { names[$0].dropFirst(13).prefix(20) }).count == 100)
        #expect(names[7].hasPrefix("person-000007"))
    }

    @Test("sets above a million rows are generated in pieces, those with linked tables never")
    func whichComesInPieces() {
        #expect(PeopleDataset().inPieces(size: 1_000_000) == nil)
        #expect(PeopleDataset().inPieces(size: 1_000_001) != nil)
        #expect(PeopleDataset(name: "people-dogs", dogsPerPerson: 4).inPieces(size: 2_000_000) == nil)
    }

    @Test("updates hit the intended number of rows in the middle")
    func middleRows() {
        #expect(RandomAges.middle(50, of: 1_000) == 475..<525)
        #expect(RandomAges.middle(0, of: 1_000) == 0..<1_000)
        #expect(RandomAges.middle(2_000, of: 1_001) == 0..<1_001)
        #expect(RandomAges.middle(1, of: 2) == 0..<1)
    }

    /// Mistakes of contents, except those that this comparison cannot meet: people have no links, and it reads one
    /// state.
    static let mistakes = EngineMistake.content.filter { ![.linkSwapped, .commitMissing, .olderState].contains($0) }

    @Test("a comparison in pieces covers everything", arguments: mistakes)
    func piecewiseComparisonFindsMistakes(mistake: EngineMistake) throws {
        let size = 10_000
        try EnginesUnderTest.withDirectory { directory in
            let location = DatabaseLocation(directory: directory)
            let engine = ModelEngine()
            let settings = engine.settings(for: .none)
            let loading = try #require(try engine.open(location, settings: settings) as? any TableSession)
            try loading.load(try PeopleDataset().tables(size: size, seed: Seed(1)))
            let sound = DamageOracle.judge(
                engine: engine, settings: settings, location: location, inPieces: PeopleDataset(), size: size)
            #expect(sound.outcome == .correct, "\(sound.detail)")
            let fewer = DamageOracle.judge(
                engine: engine, settings: settings, location: location, inPieces: PeopleDataset(), size: size + 1)
            #expect(fewer.outcome == .silentlyWrong)
            let planted = DamageOracle.judge(
                engine: PlantedEngine.wrap(engine, mistake), settings: settings, location: location,
                inPieces: PeopleDataset(), size: size)
            #expect(planted.outcome == .silentlyWrong, "\(planted.detail)")
            try loading.close()
        }
    }

    @Test("a copy links the files that never change and copies the others")
    func constantFilesAreLinked() throws {
        try EnginesUnderTest.withDirectory { directory in
            let (source, target) = (directory + "/source", directory + "/target")
            try FileTree.createDirectory(source)
            for name in ["1.sst", "1.log"] { try FileTree.writeBytes(source + "/" + name, [1, 2, 3]) }
            try FileTree.copy(from: source, to: target, linking: ["*.sst"])
            func number(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            }
            #expect(try number(source + "/1.sst") == number(target + "/1.sst"))
            #expect(try number(source + "/1.log") != number(target + "/1.log"))
            #expect(try FileTree.readBytes(target + "/1.log") == [1, 2, 3])
        }
    }

    @Test("the engine with constant files is the one that writes tables once")
    func constantPatterns() throws {
        let named = try EnginesUnderTest.names.filter { try !EnginesUnderTest.engine($0).constantPatterns.isEmpty }
        #expect(named.allSatisfy { $0.hasPrefix("rocksdb") }, "\(named)")
    }
}
