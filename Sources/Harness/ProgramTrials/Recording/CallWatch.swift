import Files
import Harness
import Platform
import Synchronization

/// Watches a program's calls that bypass its recorder: the other end of `past.h`.
///
/// The first program hands over a seccomp listener, by which the kernel reports these calls. Each of them waits until
/// this process has examined it, and then continues unchanged. If the kernel reports none, there is no verdict: a
/// missed sync would make a correct program look wrong.
final class CallWatch: Sendable {
    static let variable = "ASSAY_CALLS"
    /// The number of the program's end of the socket, which the recorder in the program uses before the program's first
    /// instruction.
    static let descriptor: Int32 = 198

    /// The program's end.
    let given: Int32
    private let own: Int32
    private let root: BytePath
    private let device: UInt64
    private let volatile: VolatileNames
    private let isStopped = Atomic(false)
    private let found = Mutex(Found())

    private struct Found {
        var calls = PastCalls()
        /// The thread waits for the listener.
        var isWaiting = false
        /// Whether the kernel reports calls.
        var isWatching = false
    }

    /// - Parameter root: the watched directory, in the kernel's form.
    init(_ root: String, without volatile: VolatileNames) throws {
        self.root = BytePath(root)
        self.volatile = volatile
        device = UInt64(truncatingIfNeeded: try FileTree.status(self.root).st_dev)
        var ends: [Int32] = [-1, -1]
        // SOCK_STREAM and, if it exists, SOCK_CLOEXEC: programs started meanwhile inherit neither end.
        #if canImport(Glibc)
            let kind: Int32 = 1 | 0x80000
        #else
            let kind: Int32 = 1
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw HarnessError("cannot watch a program: \(systemMessage())")
        }
        own = ends[0]
        // Above the numbers of the program's other descriptors.
        given = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
        close(ends[1])
        guard given >= 0 else { throw HarnessError("cannot watch a program: \(systemMessage())") }
    }

    deinit {
        close(own)
        close(given)
    }

    /// Follows the program on a thread of its own.
    func start() throws {
        found.withLock { $0.isWaiting = true }
        let thread = try ThreadStart { [self] in follow() }.spawn()
        pthread_detach(thread)
    }

    /// To be called when the program and all its descendants have ended: no call waits any more.
    func stop() { isStopped.store(true, ordering: .sequentiallyConsistent) }

    /// All reported calls. Reads the program's reports also if it ended early.
    func finish() -> PastCalls {
        stop()
        while found.withLock({ $0.isWaiting }) { usleep(200) }
        return found.withLock { found in
            var calls = found.calls
            if !found.isWatching, calls.reasons.isEmpty {
                calls.note("the recorder asked for no watch over the calls that it does not see")
            }
            return calls
        }
    }

    // MARK: The thread

    private func follow() {
        let descriptor = receive()
        found.withLock { $0.isWaiting = false }
        guard let listener = descriptor else { return }
        defer { close(listener) }
        while true {
            let events = wait(listener)
            if events & Int16(POLLIN) != 0 {
                answer(listener)
            } else if events & Int16(POLLHUP | POLLERR) != 0 || isStopped.load(ordering: .sequentiallyConsistent) {
                return
            }
        }
    }

    private func wait(_ descriptor: Int32) -> Int16 {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 20) > 0 ? polled.revents : 0
    }

    /// The listener from the first program; nil if it sends none.
    private func receive() -> Int32? {
        while true {
            // Read before the wait: what the program sent before it ended is readable then.
            let isLast = isStopped.load(ordering: .sequentiallyConsistent)
            if wait(own) & Int16(POLLIN) != 0 { break }
            if isLast { return nil }
        }
        var code: Int32 = 0
        // A header of 16 bytes (length, SOL_SOCKET, SCM_RIGHTS) and the descriptor.
        var control = [UInt8](repeating: 0, count: 24)
        let isWhole = withUnsafeMutableBytes(of: &code) { words in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: words.baseAddress, iov_len: words.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = numericCast(control.count)
                    return recvmsg(own, &message, 0) == words.count
                }
            }
        }
        let descriptor = control.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: Int32.self) }
        guard isWhole, code == 0, descriptor > 0 else {
            let why = isWhole ? String(cString: strerror(code)) : "nothing was sent"
            found.withLock {
                $0.calls.note("the kernel does not tell of the calls that the recorder does not see (seccomp: \(why))")
            }
            return nil
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        found.withLock { $0.isWatching = true }
        return descriptor
    }

    // MARK: Calls

    /// In the layout of `struct seccomp_notif`.
    private struct Notice {
        var id: UInt64
        var thread: UInt32
        var number: Int32
        var words: [UInt64]

        init(_ bytes: UnsafeRawBufferPointer) {
            id = bytes.load(as: UInt64.self)
            thread = bytes.load(fromByteOffset: 8, as: UInt32.self)
            number = bytes.load(fromByteOffset: 16, as: Int32.self)
            words = (0..<6).map { bytes.load(fromByteOffset: 32 + 8 * $0, as: UInt64.self) }
        }
    }

    private func answer(_ listener: Int32) {
        let notice = UnsafeMutableRawBufferPointer.allocate(byteCount: 80, alignment: 8)
        let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: 24, alignment: 8)
        defer {
            notice.deallocate()
            reply.deallocate()
        }
        notice.initializeMemory(as: UInt8.self, repeating: 0)
        reply.initializeMemory(as: UInt8.self, repeating: 0)
        guard let noticeStart = notice.baseAddress, let replyStart = reply.baseAddress else { return }
        // SECCOMP_IOCTL_NOTIF_RECV and .._SEND, which are macros that Swift does not import. The calling thread may
        // have ended by now.
        let (receive, send): (UInt, UInt) = (0xC050_2100, 0xC018_2101)
        guard ioctl(listener, receive, noticeStart) == 0 else { return }
        let call = Notice(UnsafeRawBufferPointer(notice))
        look(at: call)
        reply.storeBytes(of: call.id, as: UInt64.self)
        // SECCOMP_USER_NOTIF_FLAG_CONTINUE
        reply.storeBytes(of: 1, toByteOffset: 20, as: UInt32.self)
        _ = ioctl(listener, send, replyStart)
    }

    private func look(at call: Notice) {
        let process = ObservedProcess(thread: call.thread)
        switch WatchedCall(number: call.number) {
        case .execute: execute(process, call.words[0], from: nil)
        case .executeAt:
            let directory = Int32(truncatingIfNeeded: call.words[0])
            execute(process, call.words[1], from: directory == -100 ? nil : directory)
        case .sync: if let name = watched(process, call.words[0]) { note("a sync of \(name) that was not seen") }
        case .syncFileSystem:
            if process.device(of: Int32(truncatingIfNeeded: call.words[0])) ?? device == device {
                note("a sync of the whole file system that was not seen")
            }
        case .syncAll: note("a sync of everything that was not seen")
        case .syncMap:
            // MS_SYNC
            guard call.words[2] & 4 != 0, let path = process.mapped(at: call.words[0]) else { return }
            if let name = watched(path) { note("a sync of a map of \(name) that was not seen") }
        case .splice: if let name = watched(process, call.words[2]) { note("a splice to \(name)") }
        case .submit: submit(process, call.words)
        case .makeRing:
            // The flags are the third word; with IORING_SETUP_SQPOLL the kernel reads submissions without further
            // calls.
            if process.word(at: call.words[1] + 8).map({ $0 & 2 != 0 }) ?? true { noteRing() }
        case .enterRing: noteRing()
        case nil: note("call number \(call.number) of the system, which was not expected")
        }
    }

    private func note(_ reason: String) { found.withLock { $0.calls.note(reason) } }

    private func noteRing() { note("something was asked for by io_uring, which is not seen") }

    private func execute(_ process: ObservedProcess, _ address: UInt64, from directory: Int32?) {
        var program = PastCalls.Program(name: "a program")
        if let path = process.text(at: address) {
            guard let found = process.program(path, from: directory) else { return }
            program = found
        }
        let own = process.process
        found.withLock { $0.calls.note(program, by: own) }
    }

    /// The kernel's asynchronous I/O; reads do not matter.
    private func submit(_ process: ObservedProcess, _ words: [UInt64]) {
        for index in 0..<min(words[1], 1_024) {
            guard let block = process.word(at: words[2] &+ 8 * index),
                let kind = process.word(at: block &+ 16)
            else { return note("something was asked for by asynchronous I/O (libaio), which is not seen") }
            // The kind of the operation and the descriptor share a word: IOCB_CMD_PREAD and .._PREADV read.
            if [0, 7].contains(kind & 0xFFFF) { continue }
            if let name = watched(process, kind >> 32) { note("asynchronous I/O (libaio) of \(name)") }
        }
    }

    /// The name of a descriptor's file if it is watched.
    private func watched(_ process: ObservedProcess, _ descriptor: UInt64) -> String? {
        guard let path = process.path(of: Int32(truncatingIfNeeded: descriptor)) else { return "something" }
        return watched(path)
    }

    private func watched(_ path: BytePath) -> String? {
        if path == root { return "the directory" }
        guard path.bytes.starts(with: root.bytes + [UInt8(ascii: "/")]), !volatile.contains(path.name) else {
            return nil
        }
        return BytePath(Array(path.bytes.dropFirst(root.bytes.count + 1))).text
    }
}

/// The calls that the filter stops, by their numbers on this machine.
private enum WatchedCall {
    case execute, executeAt, sync, syncFileSystem, syncAll, syncMap, splice, submit, makeRing, enterRing

    init?(number: Int32) {
        #if arch(x86_64)
            switch number {
            case 59: self = .execute
            case 322: self = .executeAt
            case 74, 75: self = .sync
            case 306: self = .syncFileSystem
            case 162: self = .syncAll
            case 26: self = .syncMap
            case 275: self = .splice
            case 209: self = .submit
            case 425: self = .makeRing
            case 426: self = .enterRing
            default: return nil
            }
        #else
            switch number {
            case 221: self = .execute
            case 281: self = .executeAt
            case 82, 83: self = .sync
            case 267: self = .syncFileSystem
            case 81: self = .syncAll
            case 227: self = .syncMap
            case 76: self = .splice
            case 2: self = .submit
            case 425: self = .makeRing
            case 426: self = .enterRing
            default: return nil
            }
        #endif
    }
}
