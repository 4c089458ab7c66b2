import Files
import Harness
import RunRecords

/// A new database of the case's engine with the given rows loaded, and no other operation. The size of a compacted
/// database is compared with its size.
struct FreshDatabase {
    /// Bytes of its files when closed.
    let bytes: Int

    /// Loads the rows into an empty location of that name, closes it, and measures.
    init(_ context: CaseContext, _ tables: TableSet, in name: String = "fresh") throws {
        let location = try context.emptyLocation(name)
        try Self.load(context, tables, at: location)
        bytes = try context.fileBytes(at: location)
        try FileTree.remove(location.directory)
    }

    init(bytes: Int) { self.bytes = bytes }

    static func load(_ context: CaseContext, _ tables: TableSet, at location: DatabaseLocation) throws {
        let session = try context.open(location, as: (any TableSession).self)
        try session.load(tables)
        try session.close()
    }

    /// The largest allowed size of a compacted database with the same rows, in percent of this one.
    ///
    /// Sizes in percent, once each, of 20 000 people after every second run of 512 was deleted. With a compaction:
    /// Strata 109, SQLite's `VACUUM` 100, `mdb_copy -c` 120 (it moves whole pages, and those at the ends of runs are
    /// half full), RocksDB's `CompactRange` 95. Without one: Strata 265, SQLite 191, LMDB 236, RocksDB 222.
    static let percent = 135
    /// Allowed in addition, for parts that do not grow with the rows: header slots, meta pages, a manifest.
    static let constantBytes = 32 << 10

    var allowedBytes: Int { bytes / 100 * Self.percent + Self.constantBytes }

    /// Whether a database of that size is compact.
    func isMatched(by size: Int) -> Bool { size <= allowedBytes }

    /// Makes a case inconclusive if the database was as small before: then a compaction has no effect to show.
    func requireWork(from before: Int, _ report: CaseReport) {
        if isMatched(by: before) {
            report.inconclusive("there was nothing to compact: \(before) bytes before, \(bytes) when loaded anew")
        }
    }

    /// Judges the size of a database after a compaction.
    func judge(_ size: Int, _ address: String, _ report: CaseReport) {
        report.add(.fileBytes, Double(bytes), label: "loaded anew")
        report.add(.overFresh, Double(size) / Double(max(1, bytes)), label: address)
        let detail = "\(size) bytes, allowed \(allowedBytes): loaded anew the same rows take \(bytes)"
        report.add(
            Trial(
                address: FaultAddress(text: address), outcome: isMatched(by: size) ? .correct : .overSize,
                detail: isMatched(by: size) ? "" : detail))
    }
}

extension Metric {
    /// A size divided by that of a new database with the same rows.
    static let overFresh = Metric("over_fresh_ratio", unit: "ratio", .lowerIsBetter, .measured)
}
