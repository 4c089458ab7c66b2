internal import StrataFiles

// Several processes on one store. One of them owns writing at a time; the others read the newest version that the
// process table names, and pin it there. The owner keeps pages that others have pinned.
//
// Lock order: write gate, `monitor`, the table's lock, the allocator's lock.

extension Store {
    // MARK: Reading beside other processes

    /// Sees that the newest version of all processes is `state.visible`, and that its pages stay. `monitor` is held;
    /// this process does not own writing.
    func pinNewest(_ table: ProcessTable) throws(StorageError) {
        while true {
            try table.confirm()
            if table.publication == state.publication, state.pinned[state.visible.version] != nil { return }
            let newest = table.newest
            if state.pinned[newest.version] != nil { return try follow(newest) }
            guard let place = table.pin(newest.version) else { throw .limit(.pins) }
            guard table.publication == newest.number else {
                // Another version was made the newest before the pin was seen.
                table.unpin(place)
                continue
            }
            do throws(StorageError) { try follow(newest) } catch {
                table.unpin(place)
                throw error
            }
            state.pinned[newest.version] = StoreState.Pinned(place: place)
            return
        }
    }

    /// Reads what another process published. `monitor` is held, and the version cannot go meanwhile.
    func follow(_ newest: PublishedVersion) throws(StorageError) {
        if newest.number == state.publication { return }
        pages.admit(newest.pages)
        var version = VersionState.empty
        if !newest.root.isNull { version = try RootNode.read(newest.root, reader, known: state.visible) }
        guard version.version == newest.version, version.version >= state.visible.version else {
            throw .corrupt(page: PageNumber(newest.root.page), offset: 24, reason: .structure)
        }
        if version.version > state.visible.version && !state.observers.isEmpty {
            let tables = version.tables.map { table in
                var changes = TableChanges(table: table.id)
                changes.isComplete = false
                return changes
            }
            let general = CommitNotice(
                version: TransactionID(version.version), changes: tables,
                schemaChanged: version.schemaNode != state.visible.schemaNode)
            let isNext = version.version == state.visible.version + 1
            state.notices.append(isNext ? state.guestNotices[version.version] ?? general : general)
        }
        if !state.guestNotices.isEmpty {
            state.guestNotices = state.guestNotices.filter { $0.key > version.version }
        }
        state.publication = newest.number
        state.visible = version
        state.committed = version
        state.durable = version.version
        state.synced = version.version
    }

    // MARK: Owning writing

    /// Makes this process the one that writes. The write gate is held.
    /// - Throws: `busy`, `poisoned`, `lockFile`; what recovery throws after another writer died.
    func ensureOwner(until deadline: Deadline = .never) throws(StorageError) {
        _ = try ensureTurn(until: deadline, acceptsGrant: false)
    }

    /// Waits until this process may make a transaction. The write gate is held.
    /// - Returns: nil when it owns writing, else what the owner lent it.
    /// - Throws: as ``ensureOwner(until:)``.
    func ensureTurn(until deadline: Deadline, acceptsGrant: Bool) throws(StorageError) -> Grant? {
        guard let table, !monitor.withLock({ state.isOwner }) else { return nil }
        if table.isPoisoned { throw .poisoned }
        startAttendant(table)
        let turn = try table.acquireTurn(until: deadline, acceptsGrant: acceptsGrant, storePath: path)
        switch turn {
        case .grant(let grant): return grant
        case .ownership(let inheritance): try takeOver(table, inheritance)
        }
        return nil
    }

    private func takeOver(_ table: ProcessTable, _ inheritance: Inheritance) throws(StorageError) {
        do throws(StorageError) {
            try monitor.withLock { () throws(StorageError) in try follow(table.newest) }
            switch inheritance {
            case .own: takeOver(table)
            case .none: try recoverBeside(table)
            case .block:
                if let bytes = try table.readBlock(), let left = HandOver(bytes) {
                    try inherit(left, table)
                } else {
                    try recoverBeside(table)
                }
            }
        } catch {
            monitor.withLock { state.isOwner = false }
            try table.releaseOwnership()
            throw error
        }
    }

    /// Pages are given out by this process from now on.
    /// - Parameter restart: of the allocator, with what is protected; nil when it knows everything already.
    private func takeOver(_ table: ProcessTable, restart: ((_ protecting: [UInt64]) -> Void)? = nil) {
        monitor.withLock {
            table.memory.fence()
            state.foreign = table.foreignPins
            let versions = state.pinned.versions + Array(state.foreign)
            if let restart {
                restart(versions)
            } else {
                for version in versions { allocator.allocator.protect(version) }
            }
            state.log = nil
            state.logBytes = 0
            state.synced = state.visible.version
            state.appended = state.visible.version
            state.isOwner = true
        }
        table.memory.store32(ProcessTable.Layout.durabilityOffset, options.durability.code)
    }

    /// Goes on from a checkpoint that this process did not make.
    private func takeOver(_ table: ProcessTable, _ choice: HeaderSlot.Choice, filePages: Int) throws(StorageError) {
        pages.admit(filePages)
        let slot = choice.slot
        var next = WriterState(slot: slot, slotIndex: choice.index, writtenPages: filePages)
        next.workspace = writer.workspace
        next.isNameDurable = writer.isNameDurable
        writer = next
        takeOver(table) { [self] versions in
            // One protection for being visible, one for being the last checkpoint.
            allocator.allocator.restart(
                pageCount: Int(slot.pageCount), fileCapacity: filePages,
                protecting: versions + [state.visible.version, slot.checkpoint.rawValue])
        }
        try loadFreeMap()
    }

    private func inherit(_ left: HandOver, _ table: ProcessTable) throws(StorageError) {
        let (choice, _, size) = try Self.startingSlot(file, path, options)
        let visible = monitor.withLock { state.visible.version }
        guard choice.slot.sequence == left.sequence, !choice.slot.logRequired,
            choice.slot.checkpoint.rawValue == visible
        else { return try recoverBeside(table) }
        try takeOver(table, choice, filePages: Int(size) / Format.pageSize)
        try allocator.allocator.hold(left.held)
    }

    /// Replays the log while other processes read: what the dead writer made is thrown away, and written again where
    /// nobody can be reading.
    private func recoverBeside(_ table: ProcessTable) throws(StorageError) {
        let (choice, _, size) = try Self.startingSlot(file, path, options)
        let slot = choice.slot
        // The dead writer may have made the file longer than it ever said.
        let filePages = Int(size) / Format.pageSize
        pages.admit(filePages)
        let base = try Self.checkpoint(slot, reader)
        let visible = monitor.withLock { state.visible }
        if !slot.logRequired && base.version < visible.version {
            // What others have seen is gone with the process that made it: it wrote without a log.
            poison()
            throw .poisoned
        }
        try takeOver(table, choice, filePages: filePages)
        // Pages that the checkpoint does not reach may be read by whoever has pinned one of the dead writer's versions.
        try allocator.allocator.holdAll(upTo: filePages, freed: visible.version + 1)
        do throws(StorageError) {
            let newest = try newest(base, choice, visible: visible.version)
            // Before any later version is shown: whoever waits for one of the dead writer's must not mistake it.
            table.noteDeath(recovered: newest.version)
            adopt(newest, over: visible)
        } catch {
            poison()
            throw error
        }
    }

    /// The newest version that the files hold, made durable.
    private func newest(
        _ base: VersionState, _ choice: HeaderSlot.Choice, visible: UInt64
    ) throws(StorageError) -> VersionState {
        if choice.slot.logRequired {
            try secureInheritance()
            return try recover(base, visible: visible)
        }
        let hasLog: Bool
        do { hasLog = try fileSystem.status(Self.logPath(path)) != nil } catch { throw StorageError(error) }
        if hasLog { try refuseNewerLog() }
        if !choice.isClean || hasLog {
            try secureInheritance()
            try settle(isHalfDone: false)
        }
        return base
    }

    private func adopt(_ newest: VersionState, over visible: VersionState) {
        if newest.root == visible.root {
            monitor.withLock { state.committed = visible }
            return
        }
        // A replayed version has this protection already, a checkpoint only the one of being the last.
        if newest.version == writer.slot.checkpoint.rawValue { allocator.allocator.protect(newest.version) }
        show(newest)
    }

    /// Lets the next process write. The write gate is held, and nobody in this process writes.
    /// - Parameter claimant: a process that has a grant, and needs writing for itself.
    func handOver(_ table: ProcessTable, to claimant: Int? = nil) throws(StorageError) {
        var left: [UInt8]?
        let committed = monitor.withLock { state.committed }
        if waitUntilDurable(committed.version) {
            // Without it the next owner goes by the log, or by what the failure left: slower, and as right.
            do throws(StorageError) {
                try waitForCheckpoint()
                try checkpointWithoutLog(committed)
                let held = allocator.allocator.held
                // What a recovery keeps behind the checkpoint's end is not the checkpoint's map's.
                if held.allSatisfy({ UInt64($0.page) + UInt64($0.pages) <= writer.slot.pageCount }) {
                    left = HandOver(sequence: writer.slot.sequence, held: held).encode()
                }
            } catch {
                left = nil
            }
        }
        monitor.withLock {
            while state.isLeading || state.isCheckpointing { monitor.wait() }
            for (version, pinned) in state.pinned where pinned.place == nil {
                state.pinned[version]?.place = table.pin(version)
            }
            state.isOwner = false
            state.foreign = []
            state.log = nil
            state.publication = table.publication
        }
        writer.log?.close()
        writer.log = nil
        // Without a block the next owner goes by the log, as after a death.
        if let left { do throws(StorageError) { try table.leaveBlock(left) } catch {} }
        try table.releaseOwnership(to: claimant)
    }

    // MARK: Keeping pages for others

    /// Tells all processes of the newest version, and keeps what they have pinned. `monitor` is held; versions that
    /// were visible before are still protected.
    func announce(_ table: ProcessTable) {
        table.publish(state.visible.version, state.visible.root, pages: allocator.allocator.fileCapacity)
        state.publication = table.publication
        if !table.hasOthers && state.foreign.isEmpty { return }
        table.wakeWaiters()
        state.announcements += 1
        if state.announcements & 63 == 0 {
            // A table that cannot be locked keeps the pins of the dead; the next writer hears of it.
            do throws(StorageError) { try table.clearDead() } catch {}
        }
        let pins = table.foreignPins
        for version in pins where !state.foreign.contains(version) { allocator.allocator.protect(version) }
        for version in state.foreign where !pins.contains(version) { allocator.allocator.unprotect(version) }
        state.foreign = pins
        table.ringWatchers()
    }

    // MARK: Answering other processes

    /// Starts the thread that gives writing on when another process asks, and hears of versions of others. `monitor`
    /// is not held.
    func startAttendant(_ table: ProcessTable) {
        let isFirst = monitor.withLock {
            defer { state.hasAttendant = true }
            return !state.hasAttendant
        }
        guard isFirst else { return }
        options.scheduling.spawn("attendant") { [weak self] in
            while !table.isEnded {
                let bell = table.bell
                // The store lives as long as its users, not as long as this thread.
                do {
                    guard let store = self else { return }
                    store.attend(table)
                }
                table.waitForBell(bell, microseconds: 10_000_000)
            }
        }
    }

    private func attend(_ table: ProcessTable) {
        while table.isOwner && table.isAsked && !table.isEnded {
            gate.acquire()
            // What cannot be given on is found by whoever waits: this process's locks go with it. Nobody waits for this
            // thread; the next use of the store meets the cause.
            do throws(StorageError) { try serve(table) } catch { break }
            deliverNotices()
        }
        let listens = monitor.withLock { !state.isOwner && !state.isClosed && !state.observers.isEmpty }
        if listens {
            // A damaged version is reported to whoever reads it.
            do throws(StorageError) { _ = try snapshot() } catch {}
            deliverNotices()
        }
    }
}
