package import StrataFiles
package import StrataStorage

/// Repairs damaged stores, which ``Store`` itself never does: its `open` throws.
package enum Repair {
    /// Opens a store, and repairs it first if the open throws for damage.
    ///
    /// - Parameters:
    ///   - policy: the action on a damaged store. A store opened read-only is never repaired.
    ///   - handler: called with the result of a repair before this returns.
    /// - Throws: as ``Store/open(path:options:)``, and as ``mend(path:options:policy:of:because:)``.
    /// - Complexity: that of the open; for a damaged store, a few reads and writes of the whole file.
    package static func open(
        path: String, options: StoreOptions, onDamage policy: DamagePolicy,
        handler: ((DamageReport) -> Void)? = nil
    ) throws(StorageError) -> Store {
        if policy == .fail || options.readOnly { return try Store.open(path: path, options: options) }
        // This reads the status before the open: afterwards another process may have replaced the damaged file.
        let file = try status(path, options)
        do throws(StorageError) {
            return try Store.open(path: path, options: options)
        } catch {
            guard let file, error.isDamage else { throw error }
            do throws(StorageError) {
                let report = try mend(path: path, options: options, policy: policy, of: file, because: error)
                if let report { handler?(report) }
            } catch {
                // Another process repairs the file, or has it open. The open below waits for a repair, at most for
                // `openTimeout`; then it throws.
                guard case .inUse = error else { throw error }
            }
        }
        // The repaired file was just written: a compaction at this open would write it once more.
        var plain = options
        plain.compactOnLaunch = nil
        if case .onLaunch = options.compaction { plain.compaction = .never }
        return try Store.open(path: path, options: plain)
    }

    private static func status(_ path: String, _ options: StoreOptions) throws(StorageError) -> FileStatus? {
        let path = try options.resolve(path)
        do throws(FileError) { return try options.fileSystem.status(path) } catch { throw StorageError(error) }
    }

    /// Applies a policy to a damaged store that is not open anywhere.
    ///
    /// - Parameters:
    ///   - file: the file in which the caller found the damage.
    ///   - error: from reading or opening the store. Some damage is detected only when a page is first read: the caller
    ///     then closes the store before it calls this.
    /// - Returns: nil if the path leads to another file by now: another process has recovered or replaced the store.
    /// - Throws: `error` under ``DamagePolicy/fail``, or if no version verifies; `inUse`, `noSpace`, `file`.
    /// - Complexity: reads and writes the whole file a few times.
    package static func mend(
        path: String, options: StoreOptions, policy: DamagePolicy, of file: FileStatus, because error: StorageError
    ) throws(StorageError) -> DamageReport? {
        try DamageRecovery(path, options: options, policy: policy, file: file, error: error).run()
    }
}
