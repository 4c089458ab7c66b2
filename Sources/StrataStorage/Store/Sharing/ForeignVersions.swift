internal import StrataFiles

/// Versions across processes. The owner of writing publishes its versions in the process table, and keeps the pages of
/// those that other processes have pinned there. Every other process reads the newest published version, and pins it in
/// the table.
///
/// Every member is called with the monitor of `commits` held. Lock order: write gate, monitor, the table's lock, the
/// allocator's lock.
struct ForeignVersions {
    /// Pins of dead processes are cleared once in this many publications.
    private static let announcementsPerLook = 64

    let commits: Commits
    let processes: ProcessTable

    /// Makes the newest published version the visible one of this process, and pins it in the table. This process does
    /// not own writing.
    /// - Throws: `limit(.pins)`, `lockFile`, `corrupt`.
    func pinNewest() throws(StorageError) {
        while true {
            try processes.confirm()
            if processes.versions.publication == commits.state.others.publication,
                commits.state.pins.holds(commits.state.visible.version)
            {
                return
            }
            let newest = try processes.versions.newest()
            if commits.state.pins.holds(newest.version) { return try show(newest) }
            guard commits.state.pins.hasRoom, let place = processes.pins.pin(newest.version) else {
                throw .limit(.pins)
            }
            guard processes.versions.publication == newest.number else {
                // The owner published another version, perhaps before it could see the pin.
                processes.pins.unpin(place)
                continue
            }
            do throws(StorageError) { try show(newest) } catch {
                processes.pins.unpin(place)
                throw error
            }
            commits.state.pins.show(newest.version, at: place)
            return
        }
    }

    /// Makes a published version the visible one of this process. The caller has pinned it, or no other process can own
    /// writing meanwhile.
    func show(_ newest: PublishedVersion) throws(StorageError) {
        if newest.number == commits.state.others.publication { return }
        commits.pages.admit(newest.file.pages)
        let before = commits.state.visible
        var version = VersionState.empty
        if !newest.root.isNull { version = try RootNode.read(newest.root, commits.reader, known: before) }
        guard version.version == newest.version, version.version >= before.version else {
            throw .corrupt(page: PageNumber(newest.root.page), offset: 24, reason: .structure)
        }
        commits.state.observers.follow(version, after: before)
        commits.state.others.publication = newest.number
        commits.state.queue.restart(at: version)
    }

    /// Publishes the visible version to all processes, and protects the versions that they have pinned. The caller ends
    /// the protection of earlier versions only afterwards. This process owns writing.
    func announce() {
        let allocator = commits.allocator
        commits.state.others.publication = processes.versions.publish(
            commits.state.visible.version, commits.state.visible.root, allocator.extent)
        if !processes.slots.hasOthers && commits.state.pins.foreign.isEmpty { return }
        processes.slots.wakeWaiters()
        commits.state.others.announcements += 1
        if commits.state.others.announcements % Self.announcementsPerLook == 0 {
            // Errors are dropped: the pins of dead processes stay until the next attempt, and if the table is damaged,
            // the next transaction throws.
            do throws(StorageError) { try processes.slots.clearDead(patience: 0) } catch {}
        }
        let changed = commits.state.pins.follow(foreign: processes.pins.foreign)
        changed.protect.forEach(allocator.protect)
        changed.unprotect.forEach(allocator.unprotect)
        processes.slots.ringWatchers()
    }
}
