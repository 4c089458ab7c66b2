import FaultModel
import Platform
import Seeds
import StrataFiles
import Synchronization

/// A disk in memory that records every operation, can make operations fail, and can lose power after any of them.
///
/// Programs see the current contents; what would survive a power failure follows the rules of ``DiskModel``.
/// ``crash(_:)`` and ``kill()`` return another disk and leave this one unchanged, so that threads of the program that
/// "died" disturb nothing, and one trace serves any number of crashes.
/// Concurrency: every member may be called from any thread. Where threads run freely, they decide the order of the
/// trace.
package final class SimulatedDisk: FileSystem {
    package struct Settings: Sendable {
        /// Determines ``SimulatedDisk/randomBits()``.
        package var seed: Seed
        /// In bytes; unlimited when nil. Space is counted in pages of 4 KiB.
        package var capacity: Int64?
        package var faults: [Fault]
        /// The role of the file at a path.
        package var role: @Sendable (String) -> FileRole
        /// Called before each operation on a file or a name, without a lock of the disk: a scheduler may switch to
        /// another thread here.
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
    /// Shared with the disks after crashes of this one, which reuse its address space.
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

    /// Sets the logical operation of the calling thread, which names its I/O.
    ///
    /// After the first call, a thread that never called this is background work: its actor is `background`, and its
    /// operations count under the label that was set last, which triggered them. Before it, all threads are `main`
    /// under the label `start`.
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

    /// The disk before the first record of ``trace``.
    package var base: DiskImage { state.withLock { $0.base } }

    /// All operations since ``base``, in order.
    package var trace: [IORecord] { state.withLock { $0.trace } }

    /// Number of records in the trace, which is the number of the next operation.
    package var operations: Int { state.withLock { $0.trace.count } }

    /// Number of reads and maps so far, which are not recorded.
    package var reads: Int { state.withLock { $0.injector.reads } }

    /// The faults that occurred.
    package var struckFaults: [Fault] { state.withLock { $0.injector.struck } }

    /// What programs see.
    package var image: DiskImage { state.withLock { $0.model.current } }

    /// The contents of a file as programs see them; nil when there is none at the path.
    package func contents(of path: String) -> [UInt8]? { image[path]?.bytes }

    /// Used space in bytes, in whole pages.
    package var usedBytes: Int64 { state.withLock { $0.space.used } }

    /// Adds a fault for a later operation.
    package func inject(_ fault: Fault) { state.withLock { $0.injector.add(fault) } }

    // MARK: The end of a process, the end of power

    /// Every possible disk after a crash at each point of the trace.
    package func sweep(_ rules: CrashRules = CrashRules()) -> CrashSweep {
        let (base, trace) = state.withLock { ($0.base, $0.trace) }
        return CrashSweep(base: base, trace: trace, rules: rules, seed: settings.seed.derived(part: "crash"))
    }

    /// The disk after a power failure now, with the part of the unsynced work that `mask` selects.
    /// - Parameter mask: as in the address; all bits set means everything, none means nothing.
    package func crash(_ mask: StateMask) -> SimulatedDisk {
        afterCrash(state.withLock { CrashPoint($0.model) }, mask)
    }

    /// The disk after a power failure that followed the first `count` operations of this trace.
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

    /// The disk after a power failure, or a kill, at an earlier point of this trace; nil when there is no such state.
    package func crash(at step: CrashAddress.Step) -> SimulatedDisk? {
        if step.isKill { return step.operation <= operations ? kill(after: step.operation) : nil }
        return sweep().image(at: step).map { afterCrash(step, $0) }
    }

    /// The disk of a state that a sweep of this trace passed.
    package func crash(_ found: CrashState) -> SimulatedDisk { afterCrash(found.step, found.image) }

    private func afterCrash(_ step: CrashAddress.Step, _ image: DiskImage) -> SimulatedDisk {
        let settings = afterwards(step)
        return SimulatedDisk(settings, DiskState(settings, image: image), memory)
    }

    /// Settings with other random bits, without faults and without a callback.
    private func afterwards(_ step: CrashAddress.Step) -> Settings {
        var settings = settings
        settings.seed = settings.seed.derived(CrashAddress([step]).description)
        settings.faults = []
        settings.beforeOperation = nil
        return settings
    }

    /// The disk after a kill that followed the first `count` operations of this trace. As for ``kill(healthy:)``,
    /// caches survive and the trace continues; faults are dropped.
    package func kill(after count: Int) -> SimulatedDisk {
        let (base, trace) = state.withLock { ($0.base, $0.trace) }
        let settings = afterwards(.kill(count))
        var killed = DiskState(settings, image: base)
        killed.resume(trace.prefix(count))
        return SimulatedDisk(settings, killed, memory)
    }

    /// The disk after the process died: locks and handles are released, caches and unsynced data survive, and the trace
    /// continues, so that power can still fail at any point of it.
    /// - Parameter healthy: whether the disk works again: lasting and future faults are dropped.
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
