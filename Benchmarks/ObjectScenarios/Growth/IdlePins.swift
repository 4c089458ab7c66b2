import Dispatch
import Harness
import RunRecords
import Strata

/// Files of commits beside something that looks at the database and does not read: how large do they get?
struct IdlePins {
    let path: String
    let configuration: Realm.Configuration

    static let rows = 2_000

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

    /// Commits on a thread of its own; each changes a hundred objects.
    /// - Returns: sizes, ten of them in the course of it.
    func commit(_ count: Int, name: String) throws -> Series {
        try OtherThread.run {
            let realm = try Realm(configuration: configuration)
            var series = Series(name: name, step: "commits", points: [try bytes()])
            for number in 1...count {
                try realm.write {
                    for place in 0..<100 {
                        let id = (number &* 101 + place &* 19) % Self.rows
                        realm.object(ofType: Entry.self, forPrimaryKey: id)?.rank = number
                    }
                }
                guard number % max(1, count / 10) == 0 else { continue }
                var point = try bytes()
                point.position = number
                series.points.append(point)
            }
            return series
        }
    }

    static func largest(_ series: Series) -> Int { series.points.map { $0.fileBytes + $0.logBytes }.max() ?? 0 }

    /// Compares with a file beside which nothing looked.
    static func judge(_ name: String, _ with: Series, _ without: Series, percent: Int, _ report: CaseReport) {
        let (size, basis) = (largest(with), largest(without))
        let allowed = basis / 100 * percent + 256 << 10
        report.add(with)
        report.add(.fileBytes, Double(size), statistic: "max", label: name)
        report.add(
            Trial(
                address: FaultAddress(text: name), outcome: size <= allowed ? .correct : .memoryLimit,
                detail: size <= allowed ? "" : "\(size) bytes, without it \(basis), allowed \(allowed)"))
    }
}
