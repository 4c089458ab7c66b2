package import StrataStorage

/// Repairs damaged stores, which ``Store`` itself never does: its `open` throws.
package enum Repair {
    /// Opens a store, and repairs it first if the open throws for damage.
    ///
    /// - Parameters:
    ///   - policy: the action on a damaged store. A store opened read-only is never repaired.
    ///   - handler: called with the result of a repair before this returns.
    /// - Throws: as ``Store/open(path:options:)``, and as ``mend(path:options:policy:because:)``.
    /// - Complexity: that of the open; for a damaged store, a few reads and writes of the whole file.
    package static func open(
        path: String, options: StoreOptions, onDamage policy: DamagePolicy,
        handler: ((DamageReport) -> Void)? = nil
    ) throws(StorageError) -> Store {
        do throws(StorageError) {
            return try Store.open(path: path, options: options)
        } catch {
            guard error.isDamage, policy != .fail, !options.readOnly else { throw error }
            let report = try mend(path: path, options: options, policy: policy, because: error)
            handler?(report)
        }
        // The repaired file was just written: a compaction at this open would write it once more.
        var plain = options
        plain.compactOnLaunch = nil
        if case .onLaunch = options.compaction { plain.compaction = .never }
        return try Store.open(path: path, options: plain)
    }

    /// Applies a policy to a damaged store that is not open anywhere.
    ///
    /// - Parameter error: from reading or opening the store. Some damage is detected only when a page is first read:
    ///   the caller then closes the store before it calls this.
    /// - Throws: `error` under ``DamagePolicy/fail``, or if no version verifies; `inUse`, `noSpace`, `file`.
    /// - Complexity: reads and writes the whole file a few times.
    package static func mend(
        path: String, options: StoreOptions, policy: DamagePolicy, because error: StorageError
    ) throws(StorageError) -> DamageReport {
        try DamageRecovery(path, options: options, policy: policy, error: error).run()
    }
}
