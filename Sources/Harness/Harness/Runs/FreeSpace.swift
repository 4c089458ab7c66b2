import Files
import RunRecords

/// The disk space that a plan needs. A run that does not fit is refused before it begins.
package struct FreeSpace: Sendable, Equatable {
    /// What is on disk at one time: the fixtures of all engines, and the copies of the running cases with their growth.
    package var neededBytes: UInt64 = 0
    package var largestFileBytes: UInt64 = 0
    /// The case that needs the most space, for the message.
    package var largest = ""

    /// Bytes of database per row of the main table, for the engine that needed the most, at the peak of loading. They
    /// are measured and rounded up; the measurements are in docs/decisions/0020-run-directories.md.
    private static let bytesPerRow: [String: UInt64] = [
        "people": 60, "people-wide": 460, "people-large": 1_500, "people-dogs": 340, "damage": 400,
    ]
    /// For a text file as data set: databases took at most 1.2 times the size of the file.
    private static let fileFactor: UInt64 = 2
    /// A fresh database of any engine, with its preallocated log.
    private static let emptyDatabaseBytes: UInt64 = 8 << 20
    /// A case needs its copy, and also space for the log of a large transaction, a compaction's copy, or a second
    /// database.
    private static let copies: UInt64 = 3

    /// - Parameters:
    ///   - cases: the cases of the run; those that do not run need nothing.
    ///   - lanes: how many cases run at a time.
    package init(_ cases: [PlannedCase], registries: Registries, lanes: Int = 1) {
        var fixtures: [String: UInt64] = [:]
        var largestCase: UInt64 = 0
        for planned in cases where planned.verdict == nil {
            let test = planned.test
            guard let scenario = registries.scenarios.scenario(named: test.scenario),
                let engine = registries.engine(of: test), engine.capabilities.contains(.persistent)
            else { continue }
            let bytes = Self.databaseBytes(test, registries)
            if let request = scenario.fixture(for: test) {
                fixtures[FixtureStore.key(request, test: test, engine: engine)] = bytes
            }
            if bytes * Self.copies > largestCase {
                largestCase = bytes * Self.copies
                let rows = test.size > 0 ? "\(test.dataset) of \(test.size) rows" : test.dataset
                largest = test.dataset.isEmpty ? test.scenario : "\(test.scenario) on \(rows)"
            }
            largestFileBytes = max(largestFileBytes, bytes * 2)
        }
        neededBytes = fixtures.values.reduce(0, +) + largestCase * UInt64(lanes)
    }

    static func databaseBytes(_ test: Case, _ registries: Registries) -> UInt64 {
        if test.dataset.isEmpty { return emptyDatabaseBytes }
        if let perRow = bytesPerRow[test.dataset] {
            let rows = test.size > 0 ? test.size : registries.dataset(named: test.dataset)?.defaultSize ?? 0
            // Nothing needs more than a petabyte; the cap keeps the sums from overflowing.
            let (bytes, isTooMuch) = UInt64(max(0, rows)).multipliedReportingOverflow(by: perRow)
            return emptyDatabaseBytes + (isTooMuch ? 1 << 50 : min(bytes, 1 << 50))
        }
        let size = FileTree.fileBytes(test.dataset == "dpkg" ? "/var/lib/dpkg/status" : test.dataset)
        return emptyDatabaseBytes + size * fileFactor
    }

    /// Throws: `HarnessError` with the needed and the free space, and the remedy. `directory` must exist.
    package func require(in directory: String) throws(HarnessError) {
        guard let free = HarnessFault.freeBytes(directory), free < neededBytes else { return }
        throw HarnessError(
            "this plan needs about \(Self.text(neededBytes)) under \(directory), and \(Self.text(free)) are free "
                + "(most for \(largest)): make room, name a directory on another disk with --out, or take fewer rows "
                + "with --size")
    }

    static func text(_ bytes: UInt64) -> String {
        bytes >= 10 << 30 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
    }
}
