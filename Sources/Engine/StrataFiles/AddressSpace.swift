import CStrataShim
import Platform
import Synchronization

/// Sizes and addresses of reservations of address space for mappings that may grow.
///
/// Without a limit of the process, a mapping reserves at once all that it is likely to need, since a process has
/// 128 TiB of addresses. Under a limit (`ulimit -v`) each mapping begins with a small share of the limit, followed by
/// free addresses, and grows in place.
package enum AddressSpace {
    /// Bytes that the process may map altogether; nil without a limit.
    package static var limit: Int? {
        var found = rlimit()
        #if canImport(Darwin)
            let result = getrlimit(RLIMIT_AS, &found)
        #else
            let result = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &found)
        #endif
        guard result == 0, found.rlim_cur < rlim_t(Int.max) else { return nil }
        return Int(found.rlim_cur)
    }

    /// Initial part of the limit for one mapping, unless its contents need more: a 64th leaves space for the threads'
    /// stacks and the heap beside a dozen open databases of three mappings each.
    private static let share = 64
    /// Address space for all mappings of a process without a limit: half of its 47 bits, so that the rest of the
    /// process has the other half. Each mapping takes at most a 512th of what is left of it, so that some is always
    /// left.
    private static let budget = 1 << 46
    private static let part = 512
    /// Bytes of all present reservations.
    static let taken = Atomic<Int>(0)
    /// Least bytes to request, unless the caller or the contents need fewer: they are at most a 16th of what
    /// ``kept(_:)`` leaves to the rest of the process.
    private static let smallest = 1 << 20

    /// Sizes to request, in this order, until the system grants one.
    /// - Parameter least: bytes of the present contents, or another lower bound.
    static func attempts(_ wanted: Int, atLeast least: Int) -> [Int] {
        let limit = limit
        let least = roundedUp(least)
        var next = max(least, roundedUp(wanted))
        let most = limit.map { $0 / share } ?? (budget - min(budget, taken.load(ordering: .relaxed))) / part
        next = min(next, max(least, smallest, roundedUp(most)))
        var attempts = [next]
        while next / 2 > max(least, smallest) {
            next = roundedUp(next / 2)
            attempts.append(next)
        }
        if next > least && least > 0 { attempts.append(least) }
        return limit == nil ? attempts : attempts.filter(isFree)
    }

    /// Part of a limit that mappings leave to the rest of the process: a process ends if its heap finds no memory.
    private static func kept(_ limit: Int) -> Int { max(limit / 32, 16 << 20) }

    /// Whether the process can map this many more bytes and keep working.
    static func isFree(_ bytes: Int) -> Bool {
        guard let limit else { return true }
        guard let mapped else { return bytes <= limit }
        return bytes <= limit - min(limit, mapped + kept(limit))
    }

    /// Bytes that the process has mapped; nil if the system does not tell.
    private static var mapped: Int? {
        let descriptor = strata_open("/proc/self/statm", O_RDONLY, 0)
        if descriptor < 0 { return nil }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &text, text.count)
        let pages = text.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: " ") }
        return Int(String(decoding: pages, as: UTF8.self)).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// Rounds up to the largest page size of supported systems.
    static func roundedUp(_ bytes: Int) -> Int {
        let page = 1 << 14
        return bytes > Int.max - page ? bytes : max(page, (bytes + page - 1) / page * page)
    }

    // The lower half of the 47 bits of address space that a process has on all supported systems. The system places
    // mappings without an address hint from the upper end downwards.
    private static let first: UInt = 1 << 44
    private static let end: UInt = 1 << 46
    /// Hint for the next mapping; starts at a random address in the first 4 TiB.
    private static let next = Atomic<UInt>(first + UInt.random(in: 0..<(1 << 28)) << 14)

    /// An address hint with four times `bytes` of free addresses behind it; nil when there are no more.
    static func place(for bytes: Int) -> UnsafeMutableRawPointer? {
        guard bytes > 0, UInt(bytes) < (end - first) / 8 else { return nil }
        let room = UInt(roundedUp(bytes)) * 4
        let (start, _) = next.add(room, ordering: .relaxed)
        guard start >= first, start < end - room else {
            // The next call starts over, since earlier places may be free again.
            next.store(first, ordering: .relaxed)
            return nil
        }
        return UnsafeMutableRawPointer(bitPattern: start)
    }
}
