import Dispatch
import Files
import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sizes of a file during commits, while the process holds references into the database that it does not read.
struct IdlePins {
    let path: String
    let configuration: Realm.Configuration

    static let rows = 2_000

    /// The sizes of two files with the same commits, as bounds for the size of the tested file.
    struct Controls {
        /// Without any observer or reference.
        let alone: Series
        /// With every version pinned.
        let held: Series
    }

    init(_ context: CaseContext, _ name: String) throws {
        path = try context.emptyLocation(name).directory + "/a.strata"
        configuration = EntryClasses.configuration(path, context.test.durability)
        let realm = try Realm(configuration: configuration)
        try EntryClasses.fill(realm, count: Self.rows)
    }

    /// Bytes of the data file and its log.
    private func bytes() throws -> SizePoint {
        SizePoint(
            fileBytes: try FileTree.size(path),
            logBytes: FileTree.exists(path + ".log") ? try FileTree.size(path + ".log") : 0)
    }

    /// Commits on a thread of its own; each commit changes a hundred objects.
    /// - Returns: sizes at ten points.
    func commit(_ count: Int, name: String) throws -> Series {
        try commit(count, name: name) { _ in 0 }.series
    }

    /// As ``commit(_:name:)``; of up to ``mostKept`` versions, at equal distances, keeps the value that `beside` makes
    /// of the version until the end.
    func commit<Kept: Sendable>(
        _ count: Int, name: String, _ beside: @escaping @Sendable (Realm) throws -> Kept
    ) throws -> (series: Series, kept: [Kept]) {
        let step = max(1, (count + Self.mostKept - 1) / Self.mostKept)
        return try OtherThread.run {
            let realm = try Realm(configuration: configuration)
            var series = Series(name: name, step: "commits", points: [try bytes()])
            var kept: [Kept] = []
            for number in 1...count {
                try realm.write {
                    for id in Self.changed(number) {
                        realm.object(ofType: Entry.self, forPrimaryKey: id)?.rank = number
                    }
                }
                if number % step == 0 { kept.append(try beside(realm)) }
                guard number % max(1, count / 10) == 0 else { continue }
                var point = try bytes()
                point.position = number
                series.points.append(point)
            }
            return (series, kept)
        }
    }

    private static func changed(_ number: Int) -> [Int] { (0..<100).map { (number &* 101 + $0 &* 19) % rows } }

    /// The expected objects after `count` commits.
    static func expected(after count: Int) -> [String] {
        var ranks = (0..<rows).map { $0 % 7 }
        for number in stride(from: 1, through: count, by: 1) { for id in changed(number) { ranks[id] = number } }
        return ranks.enumerated().map { "\($0) text \($0), rank \($1)" }
    }

    /// Compares all objects, in full, with the expected ones.
    func check(_ name: String, after count: Int, _ report: CaseReport) throws {
        let expected = Self.expected(after: count)
        let realm = try Realm(configuration: configuration)
        realm.refresh()
        let got = EntryClasses.lines(realm)
        let place = expected.indices.first { !got.indices.contains($0) || got[$0] != expected[$0] }
        report.check("first object that is not as it was committed, \(name)", expected: nil, got: place)
        report.check("objects, \(name)", expected: expected.count, got: got.count)
    }

    static func largest(_ series: Series) -> Int { series.points.map { $0.fileBytes + $0.logBytes }.max() ?? 0 }
    private static func largestFile(_ series: Series) -> Int { series.points.map(\.fileBytes).max() ?? 0 }

    // MARK: Controls

    /// The most versions that are pinned or referred to: a store has room for some hundreds of pins.
    private static let mostKept = 100

    /// - Parameter live: allowed size of the file without observers, in percent of its live data.
    static func controls(_ context: CaseContext, commits count: Int, live: Int) throws -> Controls {
        let report = context.report
        let file = try IdlePins(context, "alone")
        let alone = try file.commit(count, name: "nothing")
        report.add(alone)
        report.add(.fileBytes, Double(largest(alone)), statistic: "max", label: "nothing")
        try file.check("nothing", after: count, report)
        let copy = file.path + ".copy"
        try Realm(configuration: file.configuration).writeCopy(toFile: URL(fileURLWithPath: copy))
        let data = try FileTree.size(copy)
        report.add(.fileBytes, Double(data), label: "live data")
        judgeAlone(alone, data: data, percent: live, report)
        let held = try IdlePins(context, "held").commit(count, name: "every version held") { Frozen($0) }.series
        report.add(held)
        report.add(.fileBytes, Double(largest(held)), statistic: "max", label: "every version held")
        return Controls(alone: alone, held: held)
    }

    /// How much larger than its bound a file may be: it grows in steps.
    private static let growthStep = 256 << 10

    private static func allowed(_ basis: Int, _ percent: Int) -> Int { basis / 100 * percent + growthStep }

    /// Compares the size of the file without observers with that of its live data. The log is left out: its size has
    /// another bound.
    static func judgeAlone(_ alone: Series, data: Int, percent: Int, _ report: CaseReport) {
        let (size, allowed) = (largestFile(alone), allowed(data, percent))
        report.add(
            Trial(
                address: FaultAddress(text: "nothing"), outcome: size <= allowed ? .correct : .overSize,
                detail: size <= allowed ? "" : "\(size) bytes, of live data \(data), allowed \(allowed)"))
    }

    /// Compares a file with the one without observers. If the file with every version pinned stays within the bound,
    /// too, the bound proves nothing.
    static func judge(_ name: String, _ with: Series, controls: Controls, percent: Int, report: CaseReport) {
        let (size, basis) = (largestFile(with), largestFile(controls.alone))
        let allowed = allowed(basis, percent)
        report.add(with)
        report.add(.fileBytes, Double(largest(with)), statistic: "max", label: name)
        report.add(
            Trial(
                address: FaultAddress(text: name), outcome: size <= allowed ? .correct : .overSize,
                detail: size <= allowed ? "" : "\(size) bytes, without it \(basis), allowed \(allowed)"))
        if largestFile(controls.held) <= allowed {
            report.inconclusive(
                "\(name): with every version held the file has \(largestFile(controls.held)) bytes, and \(allowed) are "
                    + "allowed without")
        }
    }
}
