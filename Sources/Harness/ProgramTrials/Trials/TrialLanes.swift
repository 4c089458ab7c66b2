import Harness
import Platform
import Synchronization

/// The results of trials, in the order of the trials.
package struct LaneResults<Output: Sendable>: Sendable {
    /// Of the trials that ended.
    package var outputs: [Output]
    /// An interrupt came before all had ended.
    package var isInterrupted: Bool

    package init(_ outputs: [Output], isInterrupted: Bool) {
        self.outputs = outputs
        self.isInterrupted = isInterrupted
    }
}

/// Runs trials, several at a time.
package enum TrialLanes {
    /// As many as there are processors.
    package static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// `body` gets the number of the trial and that of its lane: one trial of a lane runs at a time. `progress` gets
    /// the number of ended trials.
    ///
    /// An interrupt is not an error: the results of the ended trials are returned.
    ///
    /// Throws: the first error of a trial; the lanes then end running trials, and start no more.
    package static func run<Output: Sendable>(
        _ count: Int, lanes: Int, progress: @escaping @Sendable (Int) -> Void = { _ in },
        _ body: @escaping @Sendable (_ index: Int, _ lane: Int) throws -> Output
    ) throws -> LaneResults<Output> {
        let next = Atomic(0)
        let ended = Atomic(0)
        let isInterrupted = Atomic(false)
        let results = Mutex<[Output?]>(Array(repeating: nil, count: count))
        let width = max(1, min(lanes, count))
        _ = try ThreadGroup.run(width) { lane in
            while true {
                let index = next.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                guard index < count else { return }
                do {
                    if Interruption.isRequested { throw WorkInterrupted() }
                    let output = try body(index, lane)
                    results.withLock { $0[index] = output }
                } catch is WorkInterrupted {
                    isInterrupted.store(true, ordering: .sequentiallyConsistent)
                    next.store(count, ordering: .sequentiallyConsistent)
                    return
                } catch {
                    next.store(count, ordering: .sequentiallyConsistent)
                    throw error
                }
                progress(ended.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue)
            }
        }
        return LaneResults(
            results.withLock { $0.compactMap { $0 } },
            isInterrupted: isInterrupted.load(ordering: .sequentiallyConsistent))
    }
}
