import Harness

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the caches of the processor hold when an open is timed: nothing of the database, and nothing of the library.
///
/// A process that was just started has them full of what it did until then. A small control program finds its own code
/// and file there, since the run before it used them a moment ago; a large process like this one has driven them out.
/// So that both sides do equal work, the control programs begin in the same way.
enum ProcessorCaches {
    private static let bytes = 32 << 20

    /// Writes to as much memory as no core's own cache holds, and gives it back.
    static func fillWithOthers() throws {
        guard let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { throw HarnessError("no memory to fill the caches of the processor with") }
        memset(memory, 1, bytes)
        munmap(memory, bytes)
    }
}
