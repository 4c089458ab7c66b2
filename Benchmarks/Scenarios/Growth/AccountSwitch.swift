import Harness
import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#endif

/// An application with two accounts: it works on one database, closes and compacts it, opens the other, and back.
///
/// A violation: a file that grows from switch to switch, a switch that takes longer than the bound, a descriptor or map
/// that is left over, or a value that is not the last one written.
struct AccountSwitch: Scenario {
    let slug = "account-switch"
    let family = Family.growth
    let question = "Does changing between two databases leave anything behind, and how long does it take?"
    let requires: Set<Capability> = [.tables, .updates, .persistent, .compaction]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter(
            "switches", default: "40", range: 4...100_000, summary: "changes from one database to the other"),
        ScenarioParameter("transactions", default: "20", summary: "transactions on a database before it is left"),
        ScenarioParameter("updates", default: "100", summary: "random rows updated by each"),
        ScenarioParameter("compact", default: "yes", allowed: ["yes", "no"], summary: "whether it is compacted then"),
        ScenarioParameter("bound", default: "5000", summary: "milliseconds that a change may take"),
        ScenarioParameter(
            "plateau", default: "110", range: 100...10_000, summary: "percent of the size after the first, and 1 MiB"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let rows = try PeopleRows.count(in: context)
        guard rows > 0 else { throw HarnessError("there is no row to update") }
        let locations = [try context.fixtureLocation(), try context.emptyLocation("second")]
        let second = try context.open(locations[1], as: (any TableSession).self)
        try second.load(try context.tables())
        try second.close()
        let (transactions, updates) = (
            try context.integer("transactions"), try context.integer("updates")
        )
        let isCompacting = try context.text("compact") == "yes"
        var oracles = [ExactOracle(try context.tables()), ExactOracle(try context.tables())]
        var random = context.random("updates")
        var course = SizeCourse(step: "switches")
        var stalls = Histogram()
        var handles: [Int] = []
        let switches = try context.integer("switches")
        var session = try context.open(locations[0], as: (any UpdateSession).self)
        for number in 0..<switches {
            let place = number % 2
            for _ in 0..<transactions {
                let keys = (0..<updates).map { _ in Int64(random.below(rows)) }
                let values = keys.map { _ in Int64(random.below(100)) }
                try session.update(table: "Person", column: "age", keys: keys, values: values)
                oracles[place].update(table: "Person", column: "age", keys: keys, values: values)
            }
            let start = MonotonicClock.now()
            if isCompacting, let compacting = session as? any CompactionSession { try compacting.compact() }
            try session.close()
            session = try context.open(locations[1 - place], as: (any UpdateSession).self)
            stalls.record(MonotonicClock.now() - start)
            // The database that was left: its files as they are now.
            course.note(SizePoint(position: number + 1, fileBytes: try context.fileBytes(at: locations[place])))
            handles.append(Self.handleCount(below: context.directory))
            if context.isOverBudget && number >= 4 {
                report.cut()
                break
            }
        }
        try session.close()
        report.add(stalls, name: "switch")
        report.add(.handles, Double(handles.first ?? 0), label: "after the first switch")
        report.add(.handles, Double(handles.last ?? 0), label: "after the last switch")
        // An engine may open what it needs once, in its first rounds; a map that the system shows in two parts is no
        // loss. One that is lost at every change is.
        let settled = handles[min(3, handles.count - 1)]
        let more = max(0, (handles.last ?? 0) - settled)
        report.check("handles left over, of some", expected: 0, got: more > max(2, (handles.count - 4) / 2) ? more : 0)
        Self.judgeStall(stalls, bound: try context.integer("bound"), report)
        course.judgePlateau(context, warmUp: 2, percent: try context.integer("plateau"))
        for (place, location) in locations.enumerated() {
            context.judgeContent("database \(place)", at: location, expected: oracles[place])
        }
    }

    static func judgeStall(_ stalls: Histogram, bound: Int, _ report: CaseReport) {
        let slowest = Double(stalls.maximum) / 1e6
        report.add(
            Trial(
                address: FaultAddress(text: "slowest switch"), outcome: slowest <= Double(bound) ? .correct : .hung,
                detail: slowest <= Double(bound) ? "" : "\(slowest) ms, allowed \(bound)"))
    }

    /// Descriptors and maps of this process that lead below the directory; 0 where the system does not say.
    private static func handleCount(below directory: String) -> Int {
        #if canImport(Glibc)
            let maps = ProcessFile.text("/proc/self/maps").split(separator: "\n").count { $0.contains(directory) }
            var names: [String] = []
            do { names = try FileTree.names(in: "/proc/self/fd") } catch { return maps }
            var bytes = [CChar](repeating: 0, count: 4_096)
            let descriptors = names.count { name in
                let length = readlink("/proc/self/fd/" + name, &bytes, bytes.count)
                guard length > 0 else { return false }
                return String(decoding: bytes[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                    .contains(directory)
            }
            return maps + descriptors
        #else
            return 0
        #endif
    }
}
