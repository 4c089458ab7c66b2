internal import StrataFiles

/// Versions of another process, which owns writing and publishes them in the process table. This process reads the
/// newest one, and pins it there.
///
/// Lock order: write gate, the store's lock, the table's lock, the allocator's lock.
struct ForeignVersions {
    let commits: Commits
    let processes: ProcessTable

    /// Makes the newest published version the visible one of this process, and pins it in the table. This process does
    /// not own writing.
    /// - Throws: `limit(.pins)`, `lockFile`, `corrupt`.
    func pinNewest(_ state: inout StoreState) throws(StorageError) {
        let visible = state.visible
        while true {
            try processes.confirm()
            if processes.versions.publication == visible.publication, visible.shows(visible.version) { return }
            let newest = try processes.versions.newest()
            if visible.shows(newest.version) { return try show(newest, in: &state) }
            let hasRoom = visible.hasRoom
            // To make room, the pins of readers that pin without the lock may have become one that is stored.
            if visible.shows(newest.version) { continue }
            guard hasRoom, let place = processes.pins.pin(newest.version) else {
                throw .limit(.pins)
            }
            guard processes.versions.publication == newest.number else {
                // The owner published another version, perhaps before it could see the pin.
                processes.pins.unpin(place)
                continue
            }
            do throws(StorageError) { try show(newest, in: &state) } catch {
                processes.pins.unpin(place)
                throw error
            }
            visible.show(newest.version, at: place)
            return
        }
    }

    /// Makes a published version the visible one of this process. The caller has pinned it, or no other process can own
    /// writing meanwhile.
    func show(_ newest: PublishedVersion, in state: inout StoreState) throws(StorageError) {
        if newest.number == state.visible.publication { return }
        commits.pages.admit(newest.file.pages)
        let before = state.visible.state
        var version = VersionState.empty
        if !newest.root.isNull { version = try RootNode.read(newest.root, commits.reader, known: before) }
        guard version.version == newest.version, version.version >= before.version else {
            throw .corrupt(page: PageNumber(newest.root.page), offset: 24, reason: .structure)
        }
        state.follow(version, publication: newest.number)
    }
}
