import FaultModel
import Seeds
import StrataFiles
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A disk in memory whose every operation is recorded, can be made to fail, and after which power can be cut.
///
/// Programs see the current contents; what would outlive a loss of power follows the rules of ``DiskModel``.
/// ``crash(_:)`` and ``kill()`` return another disk and leave this one as it is, so threads of the program that "died"
/// disturb nothing, and one history serves any number of crashes.
/// Concurrency: every member may be called from any thread. Where threads run freely, the order of the trace is theirs.
package final class SimulatedDisk: FileSystem {
    package struct Settings: Sendable {
        /// Decides ``SimulatedDisk/randomBits()``.
        package var seed: Seed
        /// In bytes; endless when nil. Space is counted in pages of 4 KiB.
        package var capacity: Int64?
        package var faults: [Fault]
        /// What the file at a path is for.
        package var role: @Sendable (String) -> FileRole
        /// Called before each operation of a file or a name, with no lock of the disk held: where a scheduler may let
        /// another thread run.
        package var beforeOperation: (@Sendable (IOKind) -> Void)?

        package init(
            seed: Seed, capacity: Int64? = nil, faults: [Fault] = [],
            role: @escaping @Sendable (String) -> FileRole = FileRole.byName
        ) {
            self.seed = seed
            self.capacity = capacity
            self.faults = faults
            self.role = role
        }
    }

    package let settings: Settings
    let state: Mutex<DiskState>
    /// Shared with the disks that crashes make of this one, so that address space is used again.
    let memory: MapMemory

    package convenience init(_ settings: Settings, image: DiskImage = DiskImage()) {
        self.init(settings, DiskState(settings, image: image), MapMemory())
    }

    package convenience init(seed: Seed) { self.init(Settings(seed: seed)) }

    private init(_ settings: Settings, _ state: sending DiskState, _ memory: MapMemory) {
        self.settings = settings
        self.state = Mutex(state)
        self.memory = memory
    }

    package var isPersistent: Bool { true }

    package func randomBits() -> UInt64 { state.withLock { $0.random.next() } }

    // MARK: Names of operations

    /// Says which logical operation the calling thread is in, so that its I/O can be named.
    ///
    /// Threads that never called this are background work: their actor is `background`, and they count under the
    /// label that was set last, which is what triggered them.
    package func setOperation(_ label: String, actor: String = "main") {
        let thread = Self.currentThread
        state.withLock { $0.labels.set(label, actor: actor, thread: thread) }
    }

    static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    // MARK: What happened so far

    /// The disk as it was before the first record of ``trace``.
    package var base: DiskImage { state.withLock { $0.base } }

    /// Everything that was asked for since then, in order.
    package var trace: [IORecord] { state.withLock { $0.trace } }

    /// Records in the trace: the number of the next operation.
    package var operations: Int { state.withLock { $0.trace.count } }

    /// Reads and maps so far, which no record stands for.
    package var reads: Int { state.withLock { $0.injector.reads } }

    /// The faults that have struck.
    package var struckFaults: [Fault] { state.withLock { $0.injector.struck } }

    /// What programs see.
    package var image: DiskImage { state.withLock { $0.model.current } }

    /// The contents of a file as programs see them; nil when the path leads to nothing.
    package func contents(of path: String) -> [UInt8]? { image[path]?.bytes }

    /// Bytes of space taken, in whole pages.
    package var usedBytes: Int64 { state.withLock { $0.space.used } }

    /// Adds a fault to come.
    package func inject(_ fault: Fault) { state.withLock { $0.injector.add(fault) } }

    // MARK: The end of a process, the end of power

    /// Every disk that a crash at each point of the history may leave.
    package func sweep(_ rules: CrashRules = CrashRules()) -> CrashSweep {
        let (base, trace) = state.withLock { ($0.base, $0.trace) }
        return CrashSweep(base: base, trace: trace, rules: rules, seed: settings.seed.derived(part: "crash"))
    }

    /// The disk after power was cut now, and this much of the un-synced work had reached it.
    /// - Parameter mask: as in the address; all bits set means everything, none means nothing.
    package func crash(_ mask: StateMask) -> SimulatedDisk {
        afterCrash(state.withLock { CrashPoint($0.model) }, mask)
    }

    /// The disk after power was cut when `count` operations of this history had been asked for.
    /// - Parameter mask: as in ``crash(_:)``.
    package func crash(after count: Int, _ mask: StateMask) -> SimulatedDisk {
        let (base, trace) = state.withLock { ($0.base, $0.trace) }
        return afterCrash(CrashPoint(DiskModel(base, after: count, of: trace)), mask)
    }

    private func afterCrash(_ point: CrashPoint, _ mask: StateMask) -> SimulatedDisk {
        var image = point.image(of: mask)
        image.dropUnnamed()
        let step = CrashAddress.Step(operation: point.operation, state: point.normalized(mask))
        return afterCrash(step, image)
    }

    /// The disk after power was cut at an earlier point of this history, or the process died there; nil when there is
    /// no such state.
    package func crash(at step: CrashAddress.Step) -> SimulatedDisk? {
        if step.isKill { return step.operation <= operations ? kill(after: step.operation) : nil }
        return sweep().image(at: step).map { afterCrash(step, $0) }
    }

    /// The disk that a sweep of this history handed out.
    package func crash(_ found: CrashState) -> SimulatedDisk { afterCrash(found.step, found.image) }

    private func afterCrash(_ step: CrashAddress.Step, _ image: DiskImage) -> SimulatedDisk {
        let settings = afterwards(step)
        return SimulatedDisk(settings, DiskState(settings, image: image), memory)
    }

    /// Other random bits, no faults, and nobody who watches.
    private func afterwards(_ step: CrashAddress.Step) -> Settings {
        var settings = settings
        settings.seed = settings.seed.derived(CrashAddress([step]).description)
        settings.faults = []
        settings.beforeOperation = nil
        return settings
    }

    /// The disk as it was when the first `count` operations of this history had been asked for, and the process died.
    /// As ``kill(healthy:)``, caches live on and the history goes on; faults are forgotten.
    package func kill(after count: Int) -> SimulatedDisk {
        let (base, trace) = state.withLock { ($0.base, $0.trace) }
        let settings = afterwards(.kill(count))
        var killed = DiskState(settings, image: base)
        killed.resume(trace.prefix(count))
        return SimulatedDisk(settings, killed, memory)
    }

    /// The disk after the process died: locks and handles are gone, caches and what is not synced live on, and the
    /// history goes on, so that power can still be cut at any point of it.
    /// - Parameter healthy: whether the disk works again: faults that last or are to come are forgotten.
    package func kill(healthy: Bool = false) -> SimulatedDisk {
        var copy = state.withLock { $0 }
        copy.forgetProcess()
        if healthy {
            copy.injector.forgetFaults()
            copy.space.capacity = settings.capacity
        }
        return SimulatedDisk(settings, copy, memory)
    }
}
