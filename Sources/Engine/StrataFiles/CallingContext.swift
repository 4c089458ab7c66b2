import CStrataShim

/// Identifies the thread and executor of the caller.
package enum CallingContext {
    /// The calling thread's number, which is unique in the process; the system reuses its own numbers.
    package static var thread: UInt64 { strata_thread_number() }

    /// Whether the caller runs on the program's main thread, which is its first one.
    package static var isFirstThread: Bool { strata_is_first_thread() != 0 }

    /// Whether the caller runs on an actor's executor. Answers false where the standard library's own check would trap.
    package static func isRunning(on executor: UnownedSerialExecutor) -> Bool {
        guard MemoryLayout<UnownedSerialExecutor>.size == 2 * MemoryLayout<UInt>.size else { return false }
        return withUnsafeBytes(of: executor) { words in
            let identity = words.load(as: UInt.self)
            let implementation = words.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
            return strata_is_on_executor(identity, implementation) != 0
        }
    }
}
