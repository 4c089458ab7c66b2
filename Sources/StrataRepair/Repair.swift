package import StrataStorage

/// What is done about damaged stores. Opening one only throws.
package enum Repair {
    /// Opens a store, and mends it first where that throws for damage.
    ///
    /// - Parameters:
    ///   - policy: what to do with a damaged store. One that is opened for reading only is never mended.
    ///   - handler: told what became of a damaged store before this returns.
    /// - Throws: as ``Store/open(path:options:)``, and as ``mend(path:options:policy:because:)``.
    /// - Complexity: that of the open; for a damaged store, reads and writes of the whole file a few times.
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
        // What was mended was just written, without gaps.
        var plain = options
        plain.compactOnLaunch = nil
        if case .onLaunch = options.compaction { plain.compaction = .never }
        return try Store.open(path: path, options: plain)
    }

    /// Does what a policy says with a damaged store that nobody has open.
    ///
    /// - Parameter error: what reading or opening the store threw. Damage may show only when a page is first read:
    ///   close the store then, and call this.
    /// - Throws: `error` under ``DamagePolicy/fail``, or when no version verifies; `inUse`, `noSpace`, `file`.
    /// - Complexity: reads and writes the whole file a few times.
    package static func mend(
        path: String, options: StoreOptions, policy: DamagePolicy, because error: StorageError
    ) throws(StorageError) -> DamageReport {
        try DamageRecovery(path, options, policy, error).run()
    }
}
