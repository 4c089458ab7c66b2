import Foundation
import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct FigureVerificationTests {
    private static let figure = ControlledFigure(
        name: "speed", workload: "speed", parameters: [], controlArguments: [], engines: nil, repeats: 1,
        isPrepared: false, values: [ControlledFigure.Value(metric: "rows_per_second", label: "", member: "value")])

    private static func compare(
        rounds: Int = 7, _ assay: @escaping (Int) -> Double, _ control: @escaping (Int) -> Double
    ) throws -> FigureComparison {
        let verification = FigureVerification(
            assay: { _, _, round in [assay(round)] }, control: { _, _, round in [control(round)] })
        return try #require(try verification.compare(figure, engine: "one", rounds: rounds, seed: Seed(1)).first)
    }

    @Test("a correct figure holds, however slow the machine is in a round")
    func holds() throws {
        let found = try Self.compare({ Double($0 + 1) * 101 }, { Double($0 + 1) * 100 })
        #expect(abs(found.ratio - 1.01) < 1e-9)
        #expect(found.standing == .holds)
    }

    @Test("a figure that costs a quarter more than its control is off")
    func off() throws {
        let found = try Self.compare({ _ in 80 }, { 100 + Double($0) / 10 })
        #expect(found.standing == .off)
        #expect(found.high < 0.9)
    }

    @Test("a ratio outside the bounds whose interval overlaps them is undecided")
    func undecided() throws {
        let found = try Self.compare({ [70, 100, 85, 86, 84, 88, 87][$0 % 7] }, { _ in 100 })
        #expect(found.standing != .holds)
        #expect(found.pairs == 21)
        // The machine alternates between two speeds, and has one of them slightly more often.
        let two = try Self.compare({ [85, 100, 85, 100, 85, 100, 85][$0 % 7] }, { _ in 100 })
        #expect(two.standing == .undecided && two.pairs == 63)
    }

    @Test(
        "an undecided figure is measured in three, then nine times as many pairs; a decided one is not measured again")
    func repetition() throws {
        let calm = try Self.compare({ $0 < 7 ? [70, 100, 85, 86, 84, 88, 87][$0] : 101 }, { _ in 100 })
        #expect(calm.standing == .holds && calm.pairs == 21)
        let slow = try Self.compare({ $0 < 7 ? [70, 100, 85, 86, 84, 88, 87][$0] : 80 }, { _ in 100 })
        #expect(slow.standing == .off && slow.pairs == 21)
        // The figure is undecided after 21 pairs as well.
        let later = try Self.compare({ $0 < 21 ? [85, 100, 85, 100, 85, 100, 85][$0 % 7] : 101 }, { _ in 100 })
        #expect(later.standing == .holds && later.pairs == 63)
        #expect(try Self.compare({ _ in 80 }, { _ in 100 }).pairs == 7)
        #expect(try Self.compare({ _ in 99 }, { _ in 100 }).pairs == 7)
    }

    /// For times a larger figure is worse.
    @Test(
        "a ratio above 1 is better, for both directions of a metric", arguments: ["operation_ns", "open_us"])
    func times(metric: String) throws {
        let pairs = (0..<7).map { _ in (own: 200.0, other: 100.0) }
        let found = try #require(FigureComparison(name: "time", engine: "one", metric: metric, pairs: pairs))
        #expect(abs(found.ratio - 0.5) < 1e-9)
        #expect(found.standing == .off)
    }

    @Test("a kept verdict tells whether a figure is off")
    func verdict() throws {
        let off = try Self.compare({ _ in 80 }, { 100 + Double($0) / 10 }).verdict(Self.figure)
        #expect(off.isOff && off.workload == "speed" && off.engine == "one" && off.metric == "rows_per_second")
        // The figure lies outside, though its interval overlaps the bounds.
        #expect(try Self.compare({ [70, 100, 85, 86, 84, 88, 87][$0 % 7] }, { _ in 100 }).verdict(Self.figure).isOff)
        #expect(try !Self.compare({ _ in 91 }, { _ in 100 }).verdict(Self.figure).isOff)
    }

    @Test("both sides go first about equally often")
    func order() throws {
        var order = ""
        let verification = FigureVerification(
            assay: { _, _, _ in
                order += "a"
                return [1]
            },
            control: { _, _, _ in
                order += "c"
                return [1]
            })
        _ = try verification.compare(Self.figure, engine: "one", rounds: 40, seed: Seed(1))
        let first = order.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        #expect(first.count == 40)
        #expect((10...30).contains(first.filter { $0 == "a" }.count))
    }

    @Test("a missing figure is an error, not a ratio")
    func missing() {
        #expect(throws: HarnessError.self) { try Self.compare({ _ in 0 }, { _ in 1 }) }
    }

    @Test("the list of controls is readable, and a wrong key is reported with its place")
    func list() throws {
        let text = try String(contentsOfFile: SourceTree.root + "/Benchmarks/Controls/figures.json5", encoding: .utf8)
        let list = try ControlList.read(text, file: "figures.json5")
        #expect(list.programs.count == 7)
        #expect(list.figures.count >= 10)
        #expect(list.figures.allSatisfy { !$0.values.isEmpty })
        let wrong = #expect(throws: PlanError.self) {
            try ControlList.read(text.replacingOccurrences(of: "prepares:", with: "prepare:"), file: "figures.json5")
        }
        #expect(wrong?.message.contains("prepares") == true)
        #expect(list.figures.first { $0.workload == "column-sum" }?.rows == 500_000)
        #expect(list.figures.first { $0.workload == "bulk-insert" }?.rows == nil)
        #expect(throws: PlanError.self) {
            try ControlList.read(text.replacingOccurrences(of: "500000", with: "0"), file: "figures.json5")
        }
    }

    @Test("a control, or the harness, that is older than one of its sources is named with that source and the remedy")
    func age() throws {
        let checkout = FileManager.default.temporaryDirectory.appendingPathComponent("age-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: checkout) }
        func put(_ path: String, seconds: Double) throws {
            let file = "\(checkout)/\(path)"
            let directory = URL(fileURLWithPath: file).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try "x".write(toFile: file, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: file)
        }
        let programs = ["control-lmdb", "control-strata", "assay"]
        for program in programs { try put(program, seconds: 100) }
        let sources = [
            "Benchmarks/Controls/lmdb.c", "Benchmarks/Controls/control.h",
            "Benchmarks/Controls/Strata/Sources/ControlStrata/Main.swift",
            "Sources/Engine/StrataStorage/Log/LogFile.swift",
        ]
        for source in sources { try put(source, seconds: 90) }
        // These two files are sources of none of the three programs.
        try put("Sources/Harness/Harness/Plan.swift", seconds: 200)
        try put("Benchmarks/Controls/sqlite.c", seconds: 200)
        func complaints() throws -> [String] {
            try ProgramAge.complaints(
                controls: programs.dropLast().map { "\(checkout)/\($0)" }, assay: "\(checkout)/assay",
                checkout: checkout)
        }
        #expect(try complaints() == [])
        for (source, names) in zip(
            sources, [["control-lmdb"], ["control-lmdb"], ["control-strata"], ["control-strata", "this program"]])
        {
            try put(source, seconds: 101)
            let found = try complaints()
            #expect(found.map { $0.components(separatedBy: " is older than ")[0] } == names, "\(source)")
            #expect(found.allSatisfy { $0.contains(source) && $0.contains("remedy: make ") })
            try put(source, seconds: 90)
        }
    }
}
