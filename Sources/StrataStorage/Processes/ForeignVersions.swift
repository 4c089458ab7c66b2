internal import StrataFiles

/// Versions across processes. The owner of writing keeps the pages that other processes have pinned; every other
/// process reads the newest version that the process table names, and pins it there.
///
/// Every member is called with the monitor of `commits` held. Lock order: write gate, monitor, the table's lock, the
/// allocator's lock.
struct ForeignVersions {
    /// Pins of dead processes are cleared once in this many publications.
    private static let announcementsPerLook = 64

    let commits: Commits
    let processes: ProcessTable

    /// Makes the newest published version the store's visible one, and pins it. This process does not own writing.
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
                // Another version was published before the pin became visible.
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

    /// Makes a published version the store's visible one. Its pages are pinned, or cannot be reused meanwhile.
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

    /// Publishes the visible version to all processes, and protects the versions that they have pinned. Versions that
    /// were visible before are still protected when this is called.
    func announce() {
        let allocator = commits.allocator
        commits.state.others.publication = processes.versions.publish(
            commits.state.visible.version, commits.state.visible.root, allocator.extent)
        if !processes.slots.hasOthers && commits.state.pins.foreign.isEmpty { return }
        processes.slots.wakeWaiters()
        commits.state.others.announcements += 1
        if commits.state.others.announcements % Self.announcementsPerLook == 0 {
            // An error only leaves the pins of dead processes in place; the next writer meets the table's state and
            // reports it.
            do throws(StorageError) { try processes.slots.clearDead(patience: 0) } catch {}
        }
        let changed = commits.state.pins.follow(foreign: processes.pins.foreign)
        changed.protect.forEach(allocator.protect)
        changed.unprotect.forEach(allocator.unprotect)
        processes.slots.ringWatchers()
    }
}
