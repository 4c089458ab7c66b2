import Harness
import RunRecords

/// A database of the case's engine into which rows were loaded and nothing else was done: what a compacted one is
/// measured by.
struct FreshDatabase {
    /// Bytes of its files when it is closed.
    let bytes: Int

    /// Loads into an empty location of that name, closes, and measures.
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

    /// What a database of the same rows may weigh after a compaction, in percent of this one.
    ///
    /// Measured with 20 000 people of whom half went in runs of 512: Strata's own compaction comes to 109, SQLite's
    /// `VACUUM` to 100, `mdb_copy -c` to 120 (it moves pages, and those at the ends of runs are half full), RocksDB's
    /// `CompactRange` to 95. Without a compaction Strata stays at 265, SQLite at 191, LMDB at 236, RocksDB at 222.
    static let percent = 135
    /// For what does not grow with the rows: header slots, meta pages, a manifest.
    static let constantBytes = 32 << 10

    var allowedBytes: Int { bytes / 100 * Self.percent + Self.constantBytes }

    /// Whether a database of so many bytes is compact.
    func isMatched(by size: Int) -> Bool { size <= allowedBytes }

    /// Makes a case inconclusive whose database was as small before: nobody can tell what a compaction did.
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
    /// A size over that of a database which was loaded with the same rows.
    static let overFresh = Metric("over_fresh_ratio", unit: "ratio", .lowerIsBetter, .measured)
}
