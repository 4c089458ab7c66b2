import CStrataShim

/// Where the calling code runs.
package enum CallingContext {
    /// The calling thread's number, which no other thread of the process ever has: the system uses its own numbers
    /// again.
    package static var thread: UInt64 { strata_thread_number() }

    /// Whether the caller runs on the thread that the program started on.
    package static var isFirstThread: Bool { strata_is_first_thread() != 0 }

    /// Whether the caller runs on an actor's executor. Answers, where the standard library's own check ends the
    /// program.
    package static func isRunning(on executor: UnownedSerialExecutor) -> Bool {
        guard MemoryLayout<UnownedSerialExecutor>.size == 2 * MemoryLayout<UInt>.size else { return false }
        return withUnsafeBytes(of: executor) { words in
            let identity = words.load(as: UInt.self)
            let implementation = words.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
            return strata_is_on_executor(identity, implementation) != 0
        }
    }
}
