import Harness

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A limit that a process sets itself before it opens a database.
///
/// The canonical form is `limit:KIND,N`: `limit:descriptors,3`, `limit:threads,0` and `limit:address-space,67108864`
/// are so many, or bytes, beyond what the process has; `limit:file-size,65536` is a size in bytes,
/// `limit:file-size,65536,ignored` the same where the signal of that limit is ignored, so that it is an error.
struct ProcessLimit: Hashable, CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case descriptors
        case fileSize = "file-size"
        case threads
        case addressSpace = "address-space"
    }

    var kind: Kind
    var amount: Int
    /// Of `fileSize`: SIGXFSZ is ignored, where by default it ends the process.
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

    /// By which the system ends who meets it.
    var signal: Int32? { kind == .fileSize && !isSignalIgnored ? SIGXFSZ : nil }

    /// What trials are counted together under.
    var group: String { isSignalIgnored ? "\(kind.rawValue) ignored" : kind.rawValue }

    // MARK: Setting it

    /// In a process that will open the database and has no other purpose.
    func set() throws {
        switch kind {
        case .descriptors: try bound(.files, to: Self.firstNumbers(beyondOpen: amount))
        case .fileSize:
            Self.signal(SIGXFSZ, isIgnored: isSignalIgnored)
            try bound(.fileSize, to: amount)
        case .threads:
            try ProcessRights.becomeLonelyUser()
            // This thread counts, too.
            try bound(.processes, to: amount + 1)
        case .addressSpace:
            Self.fillHeap()
            try bound(.addressSpace, to: HistoryNeeds.addressSpace("VmSize") + amount)
        }
    }

    private func bound(_ limit: InheritedLimits.Kind, to value: Int) throws {
        guard InheritedLimits.bound(limit, to: UInt64(value)) else {
            throw HarnessError("the limit \(self) cannot be set: \(systemMessage())")
        }
    }

    private static func signal(_ number: Int32, isIgnored: Bool) {
        #if canImport(Glibc)
            _ = Glibc.signal(number, isIgnored ? SIG_IGN : SIG_DFL)
        #else
            _ = Darwin.signal(number, isIgnored ? SIG_IGN : SIG_DFL)
        #endif
    }

    /// The limit under which so many more descriptors can be had: it is one of numbers, of which the lowest free ones
    /// are given out.
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

    /// Leaves the allocator some memory that it need not ask the kernel for. A small allocation that fails ends a
    /// program in Swift, the harness first of all: what this limit is about are maps of files and stacks of threads.
    private static func fillHeap() {
        let size = 32 << 10
        let blocks = (0..<1_024).compactMap { _ in malloc(size) }
        for block in blocks { memset(block, 1, size) }
        // The last one stays, so that the end of the heap is not given back.
        for block in blocks.dropLast() { free(block) }
    }
}
