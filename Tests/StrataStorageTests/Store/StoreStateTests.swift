import StrataFiles
import Testing

@testable import StrataStorage

/// The transitions of an open store, without threads and without pages.
@Suite(.enabled(if: POSIXFileSystem().isShared))
struct StoreStateTests {
    /// Any order of transitions that threads can make, compared with a model of what each of them means.
    @Test("calls in any order keep the invariants, and make every transition")
    func anyOrder() throws {
        var made: Set<StateWalk.Transition> = []
        for seed in UInt64(1)...40 {
            var walk = try StateWalk(seed)
            for step in 0..<1000 { try walk.step("seed \(seed), step \(step)") }
            made.formUnion(walk.made)
        }
        #expect(made == Set(StateWalk.Transition.allCases), "a transition that no walk has made")
    }
}

/// A data file with the table of its processes, an allocator and a log.
private struct StateBench {
    let directory: TemporaryDirectory
    let processes: ProcessTable
    let allocator: PageAllocator
    let log: LogFile

    init() throws {
        directory = try TemporaryDirectory()
        let options = StoreOptions()
        let path = directory.path + "/store"
        let data = try options.fileSystem.open(path, .createNew)
        processes = try ProcessTable.make(data, options, path: path)
        allocator = try SpaceTests.Bench().allocator
        log = try LogFile.create(
            fileSystem: options.fileSystem, path: path + ".log", beside: path, storeID: RandomID(1, 2),
            salt: RandomID(3, 4), halfBytes: Format.pageSize, baseVersion: TransactionID(0),
            scheduling: options.scheduling)
    }
}

/// Makes transitions in a seeded order, each only when a thread of the store could make it.
private struct StateWalk {
    enum Transition: CaseIterable {
        case append, appendDurable, acknowledge, lead, write, endLead, endBatch, fail, beginLog
        case promiseSync, beginPromisedSync, endSync, noteSynced
        case becomeOwner, leaveOwnership, commitElsewhere, follow, recover
        case beginCheckpoint, endCheckpoint, beginAttending, endAttending, changeWaiters
        case beginClosing, reopen, endClosing
        case observe, stopObserving, tell, pin, unpin, pinAsReader, unpinAsReader
    }

    private(set) var made: Set<Transition> = []
    private var random: SplitMix64
    private let bench: StateBench
    private var state: StoreState
    private let syncsEach: Bool

    // What must hold.
    private var isOwner = false
    private var use = StoreState.Use.open
    private var hasFailed = false
    private var hasLog = false
    private var committed: UInt64 = 0
    private var visible: UInt64 = 0
    /// The newest version of all processes, and the number of its publication.
    private var published: (version: UInt64, number: UInt64)
    /// Observers are notified of these versions, each once it is visible.
    private var due: [UInt64] = []
    private var observer: Int?
    private var isCheckpointing = false
    private var isPromised = false
    private var isAttending = false
    private var waiters = 0

    // What threads do at this moment.
    private var isLeading = false
    private var isHeldBack = false
    /// The newest version has no record: a checkpoint makes it durable before the next one.
    private var needsCheckpoint = false
    /// The last version of the records that a leader has written.
    private var written: UInt64?
    /// No other thread writes to the log before the lead ends.
    private var isKept = false
    private var promised: UInt64?
    private var pins: [UInt64] = []
    private var readers: [ReaderPin] = []

    init(_ seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        syncsEach = seed % 2 == 0
        bench = try StateBench()
        state = StoreState(
            VisibleVersion(
                CommitQueueTests.version(0), processes: bench.processes, allocator: bench.allocator,
                scheduling: SystemScheduling()))
        state.visible.beginSharing()
        published = (0, bench.processes.versions.publication)
    }

    private var isWriting: Bool { isOwner && use == .open && !hasFailed && !needsCheckpoint }
    private var isBusy: Bool { isLeading || promised != nil }
    private var isNewest: Bool { published.number == state.visible.publication }
    private var isDurable: Bool { committed == visible }
    private var pinned: Set<UInt64> { Set(pins + readers.map { pin in pin.withVersion { $0.state.version } }) }

    private func isPossible(_ transition: Transition) -> Bool {
        switch transition {
        case .append: isWriting && (hasLog || isDurable)
        case .appendDurable: isWriting && isDurable && !isBusy
        case .acknowledge: needsCheckpoint && !hasFailed
        case .lead: !isBusy
        case .write: isLeading && written == nil
        case .endLead: written != nil
        case .endBatch: isWriting
        case .beginLog: isWriting && !hasLog
        case .noteSynced: isWriting
        case .beginPromisedSync: !isBusy
        case .endSync: promised != nil
        case .becomeOwner: !isOwner && !hasFailed && use != .closed && published.version == visible && isNewest
        case .leaveOwnership: isOwner && !isBusy && use != .closed && (hasFailed || isDurable && !needsCheckpoint)
        case .commitElsewhere: !isOwner
        case .follow: !isOwner && !hasFailed && use != .closed && !isNewest
        case .recover: isOwner && !hasLog && !hasFailed && use != .closed && isDurable && !needsCheckpoint
        case .beginClosing: use == .open && !needsCheckpoint
        case .reopen: use == .closing && isOwner && !hasFailed
        case .endClosing: use == .closing && !isBusy
        case .observe: observer == nil
        case .stopObserving: observer != nil
        case .pin: use == .open && (isOwner || isNewest)
        case .unpin: !pins.isEmpty
        case .unpinAsReader: !readers.isEmpty
        case .fail, .promiseSync, .beginCheckpoint, .endCheckpoint, .beginAttending, .endAttending, .changeWaiters,
            .tell,
            .pinAsReader:
            true
        }
    }

    mutating func step(_ place: String) throws {
        let transition = Transition.allCases[Int(random.below(UInt64(Transition.allCases.count)))]
        // A store that has failed, is closed or does not own writing makes few other transitions.
        let isRare = [.fail, .endClosing, .beginClosing, .leaveOwnership].contains(transition)
        guard isPossible(transition), !isRare || random.below(transition == .fail ? 40 : 8) == 0 else { return }
        made.insert(transition)
        let place = "\(place), \(transition)"
        makeOfCommits(transition, place)
        makeOfProcesses(transition, place)
        makeOfReaders(transition, place)
        try check(place)
    }
}

extension StateWalk {
    private mutating func append(isDurable: Bool) {
        let withRecord = hasLog && !isDurable
        committed += 1
        bench.allocator.protect(committed)
        isHeldBack = withRecord && random.below(3) == 0
        needsCheckpoint = !withRecord && !isDurable
        let notice = CommitNotice(version: TransactionID(committed), changes: [], schemaChanged: false)
        if !isDurable || observer != nil { due.append(committed) }
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: committed)) { record in
            show(
                state.append(
                    CommitQueueTests.version(committed), record: withRecord ? record : nil, isHeldBack: isHeldBack,
                    isDurable: isDurable, notice: notice),
                through: isDurable ? committed : visible)
        }
    }

    /// What became visible by the transition that superseded these versions.
    private mutating func show(_ superseded: SupersededVersions?, through version: UInt64) {
        superseded?.forEach(bench.allocator.unprotect)
        if version <= visible || hasFailed { return }
        visible = version
        published = (version, bench.processes.versions.publication)
        if observer == nil { due.removeAll { $0 <= version } }
    }

    private mutating func makeOfCommits(_ transition: Transition, _ place: String) {
        switch transition {
        case .append: append(isDurable: false)
        case .appendDurable: append(isDurable: true)
        case .acknowledge:
            needsCheckpoint = false
            show(state.acknowledge(through: committed), through: committed)
        case .lead:
            let found = state.step(towards: committed)
            let mustLead = !hasFailed && !isDurable && !isHeldBack && !needsCheckpoint
            if visible >= committed { #expect(found == .finish, "\(place)") }
            if mustLead { #expect(found == .lead, "\(place)") }
            #expect(state.step(towards: committed + 1) == .giveUp, "\(place): no such version")
            isLeading = found == .lead
        case .write:
            let writing = state.beginWriting()
            let isDone = random.below(40) != 0
            let keeping = random.below(2) == 0
            if !isDone {
                state.fail()
                hasFailed = true
            }
            state.endWriting(writing, isDone: isDone, keeping: keeping)
            isKept = keeping && !hasFailed
            written = state.queue.appended
        case .endLead:
            guard let last = written else { return }
            let wasKept = isKept
            (written, isLeading, isKept) = (nil, false, false)
            show(state.endLead(through: last, isSynced: syncsEach, wasKept: wasKept), through: last)
        case .endBatch:
            if random.below(2) == 0 { state.endBatch() } else { state.endBatch(of: committed) }
            isHeldBack = false
        case .fail:
            state.fail()
            hasFailed = true
        case .beginLog:
            state.begin(bench.log)
            hasLog = true
        case .promiseSync:
            #expect(state.promiseSync() == !isPromised, "\(place)")
            isPromised = true
        case .beginPromisedSync:
            state.takePromise()
            isPromised = false
            let isUnsynced = use == .open && hasLog && !hasFailed && visible > state.queue.synced
            promised = state.beginPromisedSync()?.version
            #expect(promised == (isUnsynced ? visible : nil), "\(place)")
        case .noteSynced:
            state.noteSynced(visible)
            #expect(state.queue.synced == visible, "\(place)")
        case .endSync:
            guard let version = promised else { return }
            state.endSync(through: version)
            promised = nil
            if !hasFailed { #expect(state.queue.synced >= version, "\(place)") }
        default: return
        }
    }

    private mutating func makeOfProcesses(_ transition: Transition, _ place: String) {
        switch transition {
        case .becomeOwner:
            let protected = state.becomeOwner()
            #expect(Set(protected) == pinned, "\(place): what pins keep")
            bench.allocator.restart(
                pageCount: Format.firstDataPage, fileCapacity: Format.firstDataPage, protecting: protected + [visible])
            (isOwner, hasLog, isHeldBack) = (true, false, false)
        case .leaveOwnership:
            // False if this process could not take writing over: another one may have published since.
            state.leaveOwnership(isNewest: random.below(4) != 0)
            (isOwner, hasLog, isHeldBack) = (false, false, false)
        case .commitElsewhere:
            let version = published.version + 1
            published = (version, bench.processes.versions.publish(version, .null, bench.allocator.extent))
        case .follow:
            state.follow(CommitQueueTests.version(published.version), publication: published.number)
            if observer != nil && published.version > visible { due.append(published.version) }
            (visible, committed) = (published.version, published.version)
        case .recover:
            committed += 1
            bench.allocator.protect(committed)
            show(state.showRecovered(CommitQueueTests.version(committed)), through: committed)
        case .beginAttending:
            #expect(state.beginAttending() == !isAttending, "\(place)")
            isAttending = true
        case .endAttending:
            state.endAttending()
            isAttending = false
        case .changeWaiters:
            let change = waiters > 0 && random.below(2) == 0 ? -1 : 1
            waiters += change
            #expect(state.changeWaiters(by: change) == waiters, "\(place)")
        case .beginCheckpoint, .endCheckpoint:
            isCheckpointing = transition == .beginCheckpoint
            if isCheckpointing { state.beginCheckpoint() } else { state.endCheckpoint() }
        case .beginClosing:
            state.beginClosing()
            use = .closing
        case .reopen:
            state.reopen()
            use = .open
        case .endClosing:
            let fails = random.below(2) == 0
            state.endClosing(hasFailed: fails)
            hasFailed = hasFailed || fails
            (use, hasLog) = (.closed, false)
        default: return
        }
    }

    private mutating func makeOfReaders(_ transition: Transition, _ place: String) {
        switch transition {
        case .observe: observer = state.observers.add { _ in }
        case .stopObserving:
            if let observer { state.observers.remove(observer) }
            observer = nil
        case .tell:
            let next = state.observers.beginTelling(visible: state.visible.version)
            let expected = due.first.flatMap { $0 <= visible ? $0 : nil }
            #expect(next?.notice.version.rawValue == expected, "\(place)")
            if next == nil { return }
            due.removeFirst()
            state.observers.endTelling()
        case .pin:
            let isPinned = state.visible.pin(visible)
            #expect(isPinned, "\(place)")
            pins.append(visible)
            state.visible.share()
            #expect(state.visible.readers.current != nil, "\(place): later readers need no lock")
        case .unpin: state.visible.unpin(pins.remove(at: Int(random.below(UInt64(pins.count)))))
        case .pinAsReader:
            switch state.visible.readers.pin() {
            case .none: return
            case .outdated(let pin):
                #expect(!isOwner && !isNewest, "\(place): outdated")
                release(pin)
            case .pinned(let pin, _):
                #expect(pin.withVersion { $0.state.version } == visible, "\(place): another version")
                #expect(use == .open && (isOwner || isNewest), "\(place): pinned")
                readers.append(pin)
            }
        case .unpinAsReader: release(readers.remove(at: Int(random.below(UInt64(readers.count)))))
        default: return
        }
    }

    private func release(_ pin: ReaderPin) { if state.visible.readers.release(pin) { state.visible.end(pin) } }

    private func check(_ place: String) throws {
        #expect(state.isOwner == isOwner && state.use == use && state.isPoisoned == hasFailed, "\(place)")
        #expect(state.committed.version == committed, "\(place): the next transaction's base")
        #expect(state.durable == visible && state.visible.version == visible, "\(place): readers see what is durable")
        #expect((state.log != nil) == hasLog && (state.logBytes > 0) == hasLog, "\(place): the log")
        #expect(isOwner || state.log == nil, "\(place): another process's log")
        #expect(state.queue.isLeading == isBusy && state.queue.isWriting == isKept, "\(place)")
        #expect(state.queue.synced <= state.durable, "\(place): the log would claim too much")
        #expect(state.isCheckpointing == isCheckpointing && state.isSyncPromised == isPromised, "\(place)")
        #expect(state.others.hasAttendant == isAttending && state.others.waiters == waiters, "\(place)")
        #expect(state.isUnused == (use == .closed && pinned.isEmpty), "\(place): the file can be closed")
        let newest = try bench.processes.versions.newest()
        #expect(newest.version == published.version && newest.number == published.number, "\(place): published")
        if isOwner {
            #expect(isNewest && newest.version == visible, "\(place): other processes see another version")
            #expect(bench.allocator.oldestProtected == pinned.union([visible]).min(), "\(place): protected")
        }
    }
}
