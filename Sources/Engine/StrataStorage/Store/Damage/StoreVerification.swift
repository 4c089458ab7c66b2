/// Verifies an open store.
///
/// Concurrency: may be used from any thread.
package struct StoreVerification {
    private let store: Store

    package init(of store: Store) { self.store = store }

    /// Size of the pages in the store's file.
    package var contentBytes: Int {
        Int(clamping: store.pages.limit.pages.load(ordering: .relaxed)) * Format.pageSize
    }

    /// Verifies the newest visible version.
    /// - Parameter goesOn: called with the share that is done; false ends the survey.
    /// - Returns: losses that the program has not acknowledged; empty if every page verifies.
    /// - Throws: `closed`, `forked`; errors other than damage.
    /// - Complexity: reads the whole version.
    package func survey(goesOn: @escaping (Double) -> Bool = { _ in true }) throws(StorageError) -> [DamagedPlace] {
        let snapshot = try store.snapshot()
        let places = try DamageSurvey(snapshot.view, goesOn: goesOn).run()
        return places.filter { !store.damage.isAcknowledged($0) }
    }

    /// Checks a version against every rule of the format, like the check of a closed file.
    /// - Throws: `InvariantViolation` for the first broken rule, `StorageError`.
    /// - Complexity: reads the whole version, and sums up all entries.
    package func holdAgainstRules(_ view: ReadView) throws {
        var walker = StoreWalker(view, EntrySum.Keys(store.fileSystem))
        try walker.walk()
        try store.reader.confirm()
    }

    /// Reads the newest version again from the file, including pages that this process wrote itself, and checks it
    /// against every rule. A copy, a compaction or a salvage calls it before the result gets its name.
    /// - Parameter original: path of the source, for the error.
    /// - Throws: `corrupt` for a page that differs from what was written; `unsound`.
    /// - Complexity: as ``holdAgainstRules(_:)``.
    package func readBack(_ original: String) throws(StorageError) {
        store.pages.distrust()
        let snapshot = try store.snapshot()
        defer { withExtendedLifetime(snapshot) {} }
        do { try holdAgainstRules(snapshot.view) } catch let error as StorageError { throw error } catch {
            throw .unsound(path: original, rule: "\(error)")
        }
    }

    /// Runs `body` while no transaction of this process is open.
    /// - Throws: `busy` after ``StoreOptions/writeTimeout``; errors of `body`.
    package func whileNothingIsWritten<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let options = store.options
        let deadline = options.writeTimeout.map(options.scheduling.deadline(after:)) ?? .never
        guard let permit = store.gate.acquire(until: deadline) else { throw .busy(path: store.path) }
        // If the body throws, the permit's deinit releases the gate.
        let value = try body()
        permit.giveBack()
        return value
    }
}
