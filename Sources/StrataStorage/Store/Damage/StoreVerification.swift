/// Verifies an open store.
///
/// Concurrency: may be used from any thread.
package struct StoreVerification {
    private let store: Store

    package init(of store: Store) { self.store = store }

    /// Bytes that the pages of the store's file take.
    package var contentBytes: Int {
        Int(clamping: store.pages.limit.pages.load(ordering: .relaxed)) * Format.pageSize
    }

    /// Verifies the newest visible version.
    /// - Parameter goesOn: called with the share that is done; false ends the survey.
    /// - Returns: what is lost that the program has not acknowledged; nothing where every page verifies.
    /// - Throws: `closed`, `forked`; what is no damage.
    /// - Complexity: reads the version whole.
    package func survey(goesOn: @escaping (Double) -> Bool = { _ in true }) throws(StorageError) -> [DamagedPlace] {
        let snapshot = try store.snapshot()
        let places = try DamageSurvey(snapshot.view, goesOn: goesOn).run()
        return places.filter { !store.damage.isAcknowledged($0) }
    }

    /// Holds a version against every rule of the format, as the check of a closed file does.
    /// - Throws: `InvariantViolation` for the first rule that is broken, `StorageError`.
    /// - Complexity: reads the version whole, and sums up all entries.
    package func holdAgainstRules(_ view: ReadView) throws {
        var walker = StoreWalker(view, EntrySum.Keys(store.fileSystem))
        try walker.walk()
        try store.reader.confirm()
    }

    /// Reads the newest version again, whatever of it this process has written itself, and holds it against every rule:
    /// what a copy, a compaction or a salvage has written, before it gets its name.
    /// - Parameter original: the path of what was copied, for the error.
    /// - Throws: `corrupt` for a page that is not what was written; `unsound`.
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
    /// - Throws: `busy` after ``StoreOptions/writeTimeout``; what `body` throws.
    package func whileNothingIsWritten<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let options = store.options
        let deadline = options.writeTimeout.map(options.scheduling.deadline(after:)) ?? .never
        guard let permit = store.gate.acquire(until: deadline) else { throw .busy(path: store.path) }
        // The gate is given back when the permit goes, whatever the body throws.
        let value = try body()
        permit.giveBack()
        return value
    }
}
