import Harness
import Platform

/// A limit that a process sets itself before it opens a database.
///
/// The canonical form is `limit:KIND,N`. `limit:descriptors,3`, `limit:threads,0` and `limit:address-space,67108864`
/// are amounts beyond what the process uses already; `limit:file-size,65536` is a size in bytes, and
/// `limit:file-size,65536,ignored` the same with the signal of that limit ignored, so that writes fail with an error.
struct ProcessLimit: Hashable, CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case descriptors
        case fileSize = "file-size"
        case threads
        case addressSpace = "address-space"
    }

    var kind: Kind
    var amount: Int
    /// Of `fileSize`: SIGXFSZ is ignored; by default it ends the process.
    var isSignalIgnored = false

    var description: String { "limit:\(kind.rawValue),\(amount)\(isSignalIgnored ? ",ignored" : "")" }

    init(_ kind: Kind, _ amount: Int, isSignalIgnored: Bool = false) {
        self.kind = kind
        self.amount = amount
        self.isSignalIgnored = isSignalIgnored
    }

    /// Reads the canonical form back; nil for anything else.
    init?(_ text: String) {
        guard text.hasPrefix("limit:") else { return nil }
        let parts = text.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let kind = Kind(rawValue: String(parts[0])), let amount = Int(parts[1]),
            amount >= 0
        else { return nil }
        self.init(kind, amount, isSignalIgnored: parts.count == 3)
        guard description == text, kind == .fileSize || !isSignalIgnored else { return nil }
    }

    /// The signal with which the kernel ends a process that meets the limit.
    var signal: Int32? { kind == .fileSize && !isSignalIgnored ? SIGXFSZ : nil }

    /// Trials with the same text are counted together.
    var group: String { isSignalIgnored ? "\(kind.rawValue) ignored" : kind.rawValue }

    // MARK: Setting it

    /// Call it in a process that will open the database and has no other purpose.
    func set() throws {
        switch kind {
        case .descriptors: try bound(.files, to: Self.firstNumbers(beyondOpen: amount))
        case .fileSize:
            Self.signal(SIGXFSZ, isIgnored: isSignalIgnored)
            try bound(.fileSize, to: amount)
        case .threads:
            try ProcessRights.becomeLonelyUser()
            // The calling thread counts, too.
            try bound(.processes, to: amount + 1)
        case .addressSpace:
            Self.fillHeap()
            try bound(.addressSpace, to: ScriptNeeds.addressSpace("VmSize") + amount)
        }
    }

    private func bound(_ limit: InheritedLimits.Kind, to value: Int) throws {
        guard InheritedLimits.bound(limit, to: UInt64(value)) else {
            throw HarnessError("the limit \(self) cannot be set: \(systemMessage())")
        }
    }

    private static func signal(_ number: Int32, isIgnored: Bool) {
        _ = Platform.signal(number, isIgnored ? SIG_IGN : SIG_DFL)
    }

    /// The limit under which `count` more descriptors can be opened: it limits descriptor numbers, and the kernel gives
    /// out the lowest free ones.
    private static func firstNumbers(beyondOpen count: Int) -> Int {
        var number = 0
        var left = count
        while true {
            if fcntl(Int32(number), F_GETFD) < 0 {
                if left == 0 { return number }
                left -= 1
            }
            number += 1
        }
    }

    /// Reserves memory in the allocator for small allocations. A failed small allocation ends a Swift program, and with
    /// it the harness; the limit is meant for mappings of files and for stacks of threads.
    private static func fillHeap() {
        let size = 32 << 10
        let blocks = (0..<1_024).compactMap { _ in malloc(size) }
        for block in blocks { memset(block, 1, size) }
        // The last block stays, so that the allocator keeps the end of the heap.
        for block in blocks.dropLast() { free(block) }
    }
}
