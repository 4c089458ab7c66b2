import Platform

/// Resource limits that a shell or a service manager set for this process, and that its workers inherit.
///
/// An engine that reaches such a limit would seem to be at fault. So this process raises its soft limits as far as the
/// hard ones allow, and refuses a run under hard limits that are too tight.
package enum InheritedLimits {
    package enum Kind: CaseIterable, Sendable {
        case files, addressSpace, data, fileSize, processes, stack, processorTime

        /// The letter of `ulimit`.
        var letter: String {
            switch self {
            case .files: "n"
            case .addressSpace: "v"
            case .data: "d"
            case .fileSize: "f"
            case .processes: "u"
            case .stack: "s"
            case .processorTime: "t"
            }
        }

        var what: String {
            switch self {
            case .files: "open files"
            case .addressSpace: "bytes of address space"
            case .data: "bytes of data"
            case .fileSize: "bytes per file"
            case .processes: "processes of this user"
            case .stack: "bytes of stack"
            case .processorTime: "seconds of processor time"
            }
        }
    }

    /// The limits that a run needs.
    package struct Need: Sendable {
        package var memoryBytes: UInt64
        package var largestFileBytes: UInt64
        package var seconds: Double

        package init(memoryBytes: UInt64, largestFileBytes: UInt64, seconds: Double) {
            self.memoryBytes = memoryBytes
            self.largestFileBytes = largestFileBytes
            self.seconds = seconds
        }

        /// The least limit for a run. The address space is for the maps of LMDB (16 GiB) and SQLite (4 GiB), of several
        /// databases at a time, and for allocations.
        func minimum(of kind: Kind) -> UInt64 {
            switch kind {
            // RocksDB has a file per table, log and lock; a hundred observers and eight processes add more.
            case .files: 256
            case .addressSpace: 64 << 30 + memoryBytes
            case .data: memoryBytes + 1 << 30
            case .fileSize: largestFileBytes + 1 << 20
            // The runner, two workers, and their children and threads.
            case .processes: 128
            case .stack: 1 << 20
            case .processorTime: UInt64(seconds * 2)
            }
        }
    }

    /// Raises the soft limits. Throws: `HarnessError`, with the remedy, if a limit is too tight and cannot be raised.
    package static func prepare(for need: Need) throws(HarnessError) {
        var complaints: [String] = []
        for kind in Kind.allCases {
            let (soft, hard) = bounds(kind)
            let minimum = need.minimum(of: kind)
            if hard < minimum {
                let remedy = kind == .files || kind == .processes ? "\(minimum)" : "unlimited"
                complaints.append(
                    "\(hard) \(kind.what), where a run needs \(minimum): `ulimit -\(kind.letter) \(remedy)` first, "
                        + "in a shell that may")
            } else if let raised = target(kind, soft: soft, hard: hard), !set(kind, soft: raised, hard: hard),
                soft < minimum
            {
                complaints.append("\(soft) \(kind.what), which cannot be raised: `ulimit -\(kind.letter) \(minimum)`")
            }
        }
        guard complaints.isEmpty else {
            throw HarnessError(
                "this shell bounds its processes, and engines would be blamed for it: "
                    + complaints.joined(separator: "; "))
        }
    }

    /// The soft limit to set; nil if the present one suffices. The stacks of new threads are as large as their limit,
    /// and some programs walk the whole descriptor table: neither of these limits is raised more than needed.
    private static func target(_ kind: Kind, soft: UInt64, hard: UInt64) -> UInt64? {
        let wanted: UInt64 =
            switch kind {
            case .files: min(hard, 65_536)
            case .stack: min(hard, 8 << 20)
            default: hard
            }
        return wanted > soft ? wanted : nil
    }

    /// The soft limit; `.max` if there is none.
    package static func soft(_ kind: Kind) -> UInt64 {
        bounds(kind).soft
    }

    /// Limits this process and its children as a shell would: by the soft limit alone.
    package static func bound(_ kind: Kind, to value: UInt64) -> Bool {
        set(kind, soft: value, hard: bounds(kind).hard)
    }

    private static func bounds(_ kind: Kind) -> (soft: UInt64, hard: UInt64) {
        var limit = rlimit()
        guard getrlimit(resource(kind), &limit) == 0 else { return (.max, .max) }
        return (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
    }

    private static func set(_ kind: Kind, soft: UInt64, hard: UInt64) -> Bool {
        var limit = rlimit(rlim_cur: rlim_t(soft), rlim_max: rlim_t(hard))
        return setrlimit(resource(kind), &limit) == 0
    }

    #if canImport(Glibc)
        private static func resource(_ kind: Kind) -> __rlimit_resource_t {
            let resource =
                switch kind {
                case .files: RLIMIT_NOFILE
                case .addressSpace: RLIMIT_AS
                case .data: RLIMIT_DATA
                case .fileSize: RLIMIT_FSIZE
                case .processes: __RLIMIT_NPROC
                case .stack: RLIMIT_STACK
                case .processorTime: RLIMIT_CPU
                }
            return __rlimit_resource_t(resource.rawValue)
        }
    #else
        private static func resource(_ kind: Kind) -> Int32 {
            switch kind {
            case .files: RLIMIT_NOFILE
            case .addressSpace: RLIMIT_AS
            case .data: RLIMIT_DATA
            case .fileSize: RLIMIT_FSIZE
            case .processes: RLIMIT_NPROC
            case .stack: RLIMIT_STACK
            case .processorTime: RLIMIT_CPU
            }
        }
    #endif
}
