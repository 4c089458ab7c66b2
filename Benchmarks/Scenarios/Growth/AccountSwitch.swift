import Files
import Harness
import Measuring
import Platform
import RunRecords

/// An application with two accounts works on one database, closes and compacts it, opens the other one, and so on. On
/// the first visit half of a database is deleted, so that there is something to compact.
///
/// A violation: a database that grows from visit to visit; one that is not compact after its last compaction; a switch
/// that takes longer than the bound; a leaked descriptor or mapping; a value that is not the last one written. Each of
/// the two databases is compared with its own earlier sizes.
struct AccountSwitch: Scenario {
    let slug = "account-switch"
    let family = Family.growth
    let question = "Does changing between two databases leave anything behind, and how long does it take?"
    let requires: Set<Capability> = [.tables, .updates, .deletions, .persistent, .compaction]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter(
            "switches", .size, default: 40, range: 4...100_000, summary: "changes from one database to the other"),
        ScenarioParameter("transactions", .size, default: 20, summary: "transactions on a database before it is left"),
        ScenarioParameter("updates", .size, default: 100, summary: "random rows updated by each"),
        ScenarioParameter("compact", default: "yes", allowed: ["yes", "no"], summary: "whether it is left compacted"),
        ScenarioParameter("bound", .allowance, default: 5_000, summary: "milliseconds that a switch may take"),
        ScenarioParameter(
            "plateau", .allowance, default: 110, range: 100...10_000,
            summary: "largest size of a database, in percent of that in its first two visits, and a step of growth"),
    ]

    /// Visits of a database that determine its expected size.
    private static let warmUp = 2
    /// The least number of switches between the two counts of handles. A handle that leaks at every switch then shows
    /// as many more; one that is opened once but late, or a mapping that the system shows in two parts, does not.
    private static let leastDistance = 8

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        // No engine has to promise these: none may have slow switches, leaked handles or a compaction without effect.
        case .hung, .crashed, .memoryLimit, .overSize: nil
        default: outcome.brokenPromise(or: expects)
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// One of the two databases.
    private struct Account {
        let location: DatabaseLocation
        /// Size after loading.
        let loadedBytes: Int
        var oracle: ExactOracle
        /// Its files after each visit.
        var course = SizeCourse(step: "visits")
        /// Open handles of both databases after each open of this one.
        var handles: [Int] = []
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        guard try PeopleRows.count(in: context) > 3 else { throw HarnessError("there are too few rows to update") }
        let tables = try context.tables()
        let deletion = try HalfDeletion(tables, run: HalfDeletion.blockRows)
        let live = deletion.liveKeys
        let fresh = try FreshDatabase(context, tables.keeping(deletion.liveRows))
        var accounts = try Self.accounts(context)
        let places = accounts.map(\.location.directory)
        let (transactions, updates) = (try context.integer("transactions"), try context.integer("updates"))
        let isCompacting = try context.text("compact") == "yes"
        var random = context.random("updates")
        var stalls = Histogram()
        let switches = try context.integer("switches")
        var session = try context.open(accounts[0].location, as: (any UpdateSession).self)
        for number in 0..<switches {
            let place = number % 2
            if number < accounts.count {
                guard let deleting = session as? any DeletionSession else {
                    throw HarnessError("\(context.engine.name) declares deletions that its session has not")
                }
                try deleting.delete(table: deletion.table, keys: deletion.keys)
                accounts[place].oracle.delete(table: deletion.table, keys: deletion.keys)
            }
            for _ in 0..<transactions {
                let keys = (0..<updates).map { _ in live[random.below(live.count)] }
                let values = keys.map { _ in Int64(random.below(100)) }
                try session.update(table: "Person", column: "age", keys: keys, values: values)
                accounts[place].oracle.update(table: "Person", column: "age", keys: keys, values: values)
            }
            let start = MonotonicClock.now()
            try Self.leave(session, isCompacting: isCompacting)
            session = try context.open(accounts[1 - place].location, as: (any UpdateSession).self)
            stalls.record(MonotonicClock.now() - start)
            // The sizes of the files of the database that was just closed.
            accounts[place].course.note(
                SizePoint(
                    position: number / 2 + 1, fileBytes: try context.fileBytes(at: accounts[place].location)))
            accounts[1 - place].handles.append(Self.handleCount(below: places))
            // Ends only when both have been visited equally often.
            if context.isOverBudget && place == 1 && number > 2 * Self.warmUp {
                report.cut()
                break
            }
        }
        try session.close()
        report.add(stalls, name: "switch")
        Self.judgeStall(stalls, bound: try context.integer("bound"), report)
        for (place, account) in accounts.enumerated() {
            try Self.judge(account, "database \(place)", context: context, fresh: isCompacting ? fresh : nil)
        }
        Self.judgeHandles(accounts, report)
    }

    private static func leave(_ session: any UpdateSession, isCompacting: Bool) throws {
        if isCompacting {
            guard let compacting = session as? any CompactionSession else {
                throw HarnessError("an engine declares a compaction that its session has not")
            }
            try compacting.compact()
        }
        try session.close()
    }

    private static func accounts(_ context: CaseContext) throws -> [Account] {
        let tables = try context.tables()
        let locations = [try context.fixtureLocation(), try context.emptyLocation("second")]
        try FreshDatabase.load(context, tables, at: locations[1])
        return try locations.map { location in
            Account(
                location: location, loadedBytes: try context.fileBytes(at: location), oracle: ExactOracle(tables))
        }
    }

    /// `fresh`: the size of a compacted database; nil where it was not compacted.
    private static func judge(
        _ account: Account, _ name: String, context: CaseContext, fresh: FreshDatabase?
    ) throws {
        account.course.judgePlateau(
            context, warmUp: warmUp, percent: try context.integer("plateau"), name: name)
        if let fresh, let last = account.course.series.points.last {
            fresh.judge(last.fileBytes, "\(name), compacted", context.report)
            fresh.requireWork(from: account.loadedBytes, context.report)
        }
        context.judgeContent(name, at: account.location, expected: account.oracle)
    }

    static func judgeStall(_ stalls: Histogram, bound: Int, _ report: CaseReport) {
        let slowest = Double(stalls.maximum) / 1e6
        report.add(
            Trial(
                address: FaultAddress(text: "slowest switch"), outcome: slowest <= Double(bound) ? .correct : .hung,
                detail: slowest <= Double(bound) ? "" : "\(slowest) ms, allowed \(bound)"))
    }

    /// Compares the handles when the same database is open, after its second visit and after its last: an engine may
    /// open once what it needs. More than one new handle per two switches is a leak; a mapping that the system shows in
    /// two parts is not.
    private static func judgeHandles(_ accounts: [Account], _ report: CaseReport) {
        for (place, account) in accounts.enumerated() {
            let name = "database \(place)"
            guard account.handles.count > 1, let last = account.handles.last else { continue }
            let settled = account.handles[1]
            report.add(.handles, Double(settled), label: "\(name), after its second visit")
            report.add(.handles, Double(last), label: "\(name), after its last visit")
            let distance = (account.handles.count - 2) * 2
            guard distance >= leastDistance else {
                report.note("handles of \(name) are shown, not judged: that takes \(leastDistance + 6) switches")
                continue
            }
            let more = max(0, last - settled)
            report.check("handles left over, \(name)", expected: 0, got: more > distance / 2 ? more : 0)
        }
    }

    /// Descriptors and mappings of this process for files below one of the directories; 0 where the system lacks lists.
    private static func handleCount(below directories: [String]) -> Int {
        #if canImport(Glibc)
            let absolute = directories.map { FileTree.absolute($0) ?? $0 }
            func isOurs(_ text: some StringProtocol) -> Bool { absolute.contains { text.contains($0 + "/") } }
            let maps = ProcessFile.text("/proc/self/maps").split(separator: "\n").count { isOurs($0) }
            var names: [String] = []
            do { names = try FileTree.names(in: "/proc/self/fd") } catch { return maps }
            var bytes = [CChar](repeating: 0, count: 4_096)
            let descriptors = names.count { name in
                let length = readlink("/proc/self/fd/" + name, &bytes, bytes.count)
                guard length > 0 else { return false }
                return isOurs(String(decoding: bytes[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            return maps + descriptors
        #else
            return 0
        #endif
    }
}
