import CStrataShim
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How much address space is taken at first for what may grow, and where.
///
/// Where nothing limits the process, a map takes at once all that it is likely to need: address space costs nothing,
/// until hundreds of databases are open.
/// Under a limit (`ulimit -v`) each map begins with a small share of it, with room behind, and grows where it is.
package enum AddressSpace {
    /// Bytes that the process may map altogether; nil when nothing limits it.
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

    /// What one map takes of the limit at first, unless its contents need more: the 64th part leaves room for the
    /// threads' stacks and the heap beside a dozen open databases of three maps each.
    private static let share = 64
    /// What the maps of a process without a limit share: half of the 47 bits that it has. Each takes the 512th part of
    /// what is left at most, so that there is always something, and the rest of the process has the other half.
    private static let budget = 1 << 46
    private static let part = 512
    /// Bytes of all ranges that are mapped now.
    static let taken = Atomic<Int>(0)
    /// Bytes below which nothing is gained by asking for less.
    private static let smallest = 1 << 20

    /// Bytes to ask for, one after the other, until the system has so much.
    /// - Parameter least: bytes that are there already, or have to fit in any case.
    static func attempts(_ wanted: Int, atLeast least: Int) -> [Int] {
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
        return attempts.filter(isFree)
    }

    /// Of a limit, what maps leave to the rest of the process: the heap ends a program that gets nothing.
    private static func kept(_ limit: Int) -> Int { max(limit / 32, 16 << 20) }

    /// Whether the process may map so much more, and go on.
    static func isFree(_ bytes: Int) -> Bool {
        guard let limit else { return true }
        guard let mapped else { return bytes <= limit }
        return bytes <= limit - min(limit, mapped + kept(limit))
    }

    /// Bytes that the process has mapped; nil where the system does not say so.
    private static var mapped: Int? {
        let descriptor = strata_open("/proc/self/statm", O_RDONLY, 0)
        if descriptor < 0 { return nil }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &text, text.count)
        let pages = text.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: " ") }
        return Int(String(decoding: pages, as: UTF8.self)).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// To the largest page that supported systems have.
    static func roundedUp(_ bytes: Int) -> Int {
        let page = 1 << 14
        return bytes > Int.max - page ? bytes : max(page, (bytes + page - 1) / page * page)
    }

    // The lower half of the 47 bits that a process has on all supported systems: maps without a wish are placed from
    // the upper end downwards.
    private static let first: UInt = 1 << 44
    private static let end: UInt = 1 << 46
    /// Where the next map goes; begins somewhere in the first 4 TiB, which nobody guesses.
    private static let next = Atomic<UInt>(first + UInt.random(in: 0..<(1 << 28)) << 14)

    /// An address with four times `bytes` behind it that nothing else was placed in; a wish, and nil when there are no
    /// more such places.
    static func place(for bytes: Int) -> UnsafeMutableRawPointer? {
        guard bytes > 0, UInt(bytes) < (end - first) / 8 else { return nil }
        let room = UInt(roundedUp(bytes)) * 4
        let (start, _) = next.add(room, ordering: .relaxed)
        guard start >= first, start < end - room else {
            // Those in front may be free again.
            next.store(first, ordering: .relaxed)
            return nil
        }
        return UnsafeMutableRawPointer(bitPattern: start)
    }
}
