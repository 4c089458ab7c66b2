extension Store {
    /// How many versions are kept: the newest, and those that somebody has pinned, in this process or in another.
    /// - Complexity: O(pins).
    package var activeVersions: Int {
        monitor.withLock {
            var versions = Set(state.pinned.versions)
            versions.insert(state.visible.version)
            if let table { versions.formUnion(table.foreignPins) }
            return versions.count
        }
    }
}
