import Harness
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs trials, several at a time, and gives their results in the order of the trials.
package enum TrialLanes {
    /// As many as there are processors.
    package static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// `body` gets the number of the trial and that of the lane that it runs in: one trial of a lane runs at a time.
    /// `progress` hears how many have ended.
    ///
    /// Throws: the first error of a trial; those that run are ended, and no more are begun.
    package static func run<Output: Sendable>(
        _ count: Int, lanes: Int, progress: @escaping @Sendable (Int) -> Void = { _ in },
        _ body: @escaping @Sendable (_ index: Int, _ lane: Int) throws -> Output
    ) throws -> [Output] {
        let next = Atomic(0)
        let ended = Atomic(0)
        let results = Mutex<[Output?]>(Array(repeating: nil, count: count))
        let width = max(1, min(lanes, count))
        _ = try ThreadGroup.run(width) { lane in
            while true {
                let index = next.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                guard index < count else { return }
                do {
                    let output = try body(index, lane)
                    results.withLock { $0[index] = output }
                } catch {
                    next.store(count, ordering: .sequentiallyConsistent)
                    throw error
                }
                progress(ended.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue)
            }
        }
        return results.withLock { $0.compactMap { $0 } }
    }
}
