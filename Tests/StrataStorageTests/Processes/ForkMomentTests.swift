import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

#if canImport(Glibc)
    import Platform

    /// Swift does not import `fork`, since its libraries limit what a child may do. This test examines that.
    @_silgen_name("fork") private func forkProcess() -> pid_t

    /// A child forked between mapping a file and registering the map once kept the map, and with it the parent's locks.
    /// A snapshot of an encrypted store could still be read there, as far as the parent had read it.
    @Suite struct ForkMomentTests {
        /// Each test runs in a process of its own, in which no other test's threads fork.
        private static func inChild(_ body: () -> Int32) -> Int32 {
            let child = forkProcess()
            if child == 0 {
                alarm(20)
                _exit(body())
            }
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        }

        /// Looks for a file among the maps and descriptors of this process. It does not allocate, since another thread
        /// may have held the heap's lock at the fork.
        private struct Traces {
            private let name: UnsafeMutablePointer<CChar>
            private let maps = strdup("/proc/self/maps")
            private let descriptors = (3..<64).map { strdup("/proc/self/fd/\($0)") }
            private let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: 1 << 20)

            init(of name: String) { self.name = strdup(name) }

            /// 0 for none, 1 for a map, 2 for a descriptor, 3 for both.
            func find() -> Int32 {
                var found: Int32 = 0
                let descriptor = open(maps!, O_RDONLY)
                var count = 0
                while true {
                    let more = read(descriptor, buffer + count, (1 << 20) - 1 - count)
                    if more <= 0 { break }
                    count += more
                }
                close(descriptor)
                buffer[count] = 0
                if strstr(buffer, name) != nil { found |= 1 }
                for path in descriptors {
                    let length = readlink(path!, buffer, 4096)
                    if length <= 0 { continue }
                    buffer[length] = 0
                    if strstr(buffer, name) != nil { found |= 2 }
                }
                return found
            }
        }

        @Test("at any moment of a fork, the child has no map and no descriptor of a store")
        func anyMoment() async {
            await #expect(processExitsWith: .success) {
                let directory = try TemporaryDirectory()
                let path = directory.path + "/file"
                let file = try POSIXFileSystem().open(path, .createNew)
                try file.truncate(to: 1 << 16)
                file.close()
                let traces = Traces(of: path)
                let isOver = Mutex(false)
                let rounds = Mutex(0)
                let hasThread = SystemScheduling().spawn("maps") {
                    while !isOver.withLock({ $0 }) {
                        do {
                            let file = try POSIXFileSystem().open(path, .write)
                            let maps: [AnyObject] = [
                                try file.map(reserve: 1 << 20), try file.mapPrivately(reserve: 1 << 20),
                                try file.mapShared(count: 4096),
                            ]
                            withExtendedLifetime(maps) {}
                            file.close()
                        } catch {
                            Issue.record(error)
                        }
                        rounds.withLock { $0 += 1 }
                    }
                }
                try #require(hasThread)
                var found: [Int32: Int] = [:]
                for _ in 0..<400 { found[Self.inChild { traces.find() }, default: 0] += 1 }
                isOver.withLock { $0 = true }
                #expect(found == [0: 400], "1 is a map, 2 a descriptor, 3 both")
                #expect(rounds.withLock { $0 } > 100)
                withExtendedLifetime(directory) {}
            }
        }

        @Test("a snapshot throws `forked` in the child, whatever its parent had read")
        func snapshot() async {
            await #expect(processExitsWith: .success) {
                for isEncrypted in [false, true] {
                    let directory = try TemporaryDirectory()
                    var options = StoreOptions()
                    if isEncrypted { options.cipher = TestCipher(key: 1) }
                    options.limits = .tiny
                    options.mapReserve = 1 << 28
                    var store = try Store.open(path: directory.path + "/store", options: options)
                    try PlainTable.setUp(store)
                    try PlainTable.insert(store, 0..<200)
                    try store.close()
                    store = try Store.open(path: directory.path + "/store", options: options)
                    let view = try store.snapshot().view
                    // The first half was read, the second was not.
                    for row in 0..<100 as Range<Int64> {
                        let place = try #require(try view.locate(0, RowKey(row)))
                        _ = try view.bytes(place, 1)
                    }
                    let place = try #require(try view.locate(0, RowKey(50)))
                    let reads: [() throws -> Any?] = [
                        { try view.rowCount(0) }, { try view.locate(0, RowKey(3)) },
                        { try view.locate(0, RowKey(150)) },
                        { try view.integer(place, 0) }, { try view.bytes(place, 1)?.count }, { try view.keys(0) },
                        { try view.rank(of: RowKey(90), in: 0) }, { try view.key(at: 3, in: 0) },
                        { try store.snapshot() }, { try store.beginWrite() },
                    ]
                    let failed = Self.inChild {
                        for (number, read) in reads.enumerated() {
                            do {
                                _ = try read()
                                return Int32(number + 1)
                            } catch StorageError.forked {
                            } catch {
                                return Int32(number + 100)
                            }
                        }
                        return 0
                    }
                    #expect(failed == 0, "encrypted: \(isEncrypted), \(failed): from 100 on another error, below none")
                    #expect(try PlainTable.keys(view) == Array(0..<200))
                    try store.close()
                }
            }
        }
    }
#endif
