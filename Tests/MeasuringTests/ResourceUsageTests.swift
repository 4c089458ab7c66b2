import Platform
import Testing

@testable import Measuring

@Suite(.serialized)
struct ResourceUsageTests {
    @Test("bytes and calls of writes are counted, as the kernel counts them")
    func writesAreCounted() {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let page = [UInt8](repeating: 7, count: 4_096)
        let start = ResourceUsage.now()
        for _ in 0..<100 { #expect(write(descriptor, page, page.count) == page.count) }
        let used = ResourceUsage.now().since(start)
        #expect(used.writtenBytes >= 409_600)
        #expect(used.writeSystemCalls >= 100)
    }

    @Test("the peak grows with memory that is touched, which also faults pages in")
    func peakGrows() throws {
        let start = ResourceUsage.now()
        let size = 64 << 20
        let memory = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        memset(memory, 1, size)
        let used = ResourceUsage.now().since(start)
        munmap(memory, size)
        #expect(used.peakResidentBytes >= UInt64(size))
        #expect(used.pageFaults > 0)
    }

    @Test("computing costs processor time")
    func processorTime() {
        let start = ResourceUsage.now()
        var sum: UInt64 = 0
        while ResourceUsage.now().since(start).processorNanoseconds < 2_000_000 { sum &+= 1 }
        #expect(sum > 0)
    }

    @Test("lines of procfs without a number are left out")
    func fields() {
        let fields = ProcessFile.fields("/proc/self/status")
        #expect(fields.contains { $0.name == "Threads" && $0.value >= 1 })
        #expect(!fields.contains { $0.name == "Name" })
        #expect(ProcessFile.fields("/no/such/file").isEmpty)
        #expect(ProcessFile.anonymousBytes(processID: getpid()) ?? 0 > 0)
    }
}
@Suite(.serialized)
struct AllocationCounterTests {
    @Test("allocations are counted one by one, with the requested bytes")
    func exact() throws {
        guard let counter = AllocationCounter() else { return print("SKIPPED: this build does not count allocations") }
        let start = counter.snapshot()
        var memory: [UnsafeMutableRawPointer?] = []
        memory.reserveCapacity(5_000)
        for _ in 0..<5_000 { memory.append(malloc(48)) }
        let used = counter.snapshot().since(start)
        for block in memory { free(block) }
        // Other tests may allocate at the same time, so counts may be higher; the thread's own bytes are exact.
        #expect(used.allocations >= 5_000)
        #expect(used.threadBytes >= 5_000 * 48)
        #expect(used.threadBytes < 5_000 * 48 + (1 << 20))
    }

    @Test("calls of ended threads are counted, and so are all allocation functions")
    func threads() throws {
        guard let counter = AllocationCounter() else { return print("SKIPPED: this build does not count allocations") }
        let start = counter.snapshot()
        // More threads than initial counters, so that counters are reused.
        for _ in 0..<3 {
            var threads: [pthread_t] = []
            for _ in 0..<50 {
                var thread = pthread_t()
                let status = pthread_create(
                    &thread, nil,
                    { _ in
                        free(malloc(24))
                        free(calloc(3, 8))
                        free(realloc(malloc(8), 4_096))
                        var aligned: UnsafeMutableRawPointer?
                        if posix_memalign(&aligned, 64, 128) == 0 { free(aligned) }
                        return nil
                    }, nil)
                try #require(status == 0)
                threads.append(thread)
            }
            for thread in threads { pthread_join(thread, nil) }
        }
        let used = counter.snapshot().since(start)
        #expect(used.allocations >= 150 * 5)
        #expect(used.threadBytes < 150 * 4_096, "another thread's bytes are not counted for this one")
    }

    @Test("wrong alignments are refused as by the library")
    func alignment() {
        var memory: UnsafeMutableRawPointer?
        #expect(posix_memalign(&memory, 24, 64) == EINVAL)
        #expect(posix_memalign(&memory, 4, 64) == EINVAL)
        #expect(posix_memalign(&memory, 4_096, 64) == 0)
        #expect(UInt(bitPattern: memory) % 4_096 == 0)
        free(memory)
        #expect(malloc(Int.max) == nil && errno == ENOMEM)
    }
}
