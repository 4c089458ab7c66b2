import FaultModel
import Seeds

/// Builds traces of file operations for tests.
struct TraceBuilder {
    var records: [IORecord] = []
    private var lastInode: UInt64 = 0

    mutating func add(_ action: IORecord.Action, _ kind: IOKind, role: FileRole = .data, failed: Bool = false) {
        let identity = FaultIdentity(label: "t", actor: "main", role: role, kind: kind, index: records.count)
        records.append(IORecord(identity, action, failed: failed))
    }

    mutating func create(_ path: String) -> Inode {
        lastInode += 1
        add(.create(path: path, inode: Inode(lastInode)), .create)
        return Inode(lastInode)
    }

    /// Creates a file whose name and contents are on disk.
    mutating func settled(_ path: String, _ bytes: [UInt8]) -> Inode {
        let inode = create(path)
        write(inode, bytes, at: 0)
        sync(inode)
        syncDirectory()
        return inode
    }

    mutating func write(_ inode: Inode, _ bytes: [UInt8], at offset: Int, role: FileRole = .data) {
        add(.write(inode: inode, offset: Int64(offset), bytes: bytes), .write, role: role)
    }

    mutating func truncate(_ inode: Inode, _ size: Int) {
        add(.truncate(inode: inode, size: Int64(size)), .truncate)
    }

    mutating func sync(_ inode: Inode, failed: Bool = false) { add(.sync(inode: inode), .sync, failed: failed) }

    mutating func syncDirectory(failed: Bool = false) {
        add(.syncDirectory(path: "."), .syncDirectory, role: .directory, failed: failed)
    }

    var model: DiskModel { DiskModel(DiskImage(), after: records.count, of: records) }

    /// The possible disk contents after the whole trace.
    func finalStates(_ rules: CrashRules = CrashRules()) -> [CrashState] {
        var states: [CrashState] = []
        var sweep = CrashSweep(base: DiskImage(), trace: records, rules: rules, seed: Seed(1))
        _ = sweep.visit(points: records.count..<(records.count + 1)) { state in
            states.append(state)
            return true
        }
        return states
    }

    /// The possible contents of a file after the whole trace; nil means no such file.
    func finalContents(of path: String, _ rules: CrashRules = CrashRules()) -> Set<[UInt8]?> {
        Set(finalStates(rules).map { $0.image[path]?.bytes })
    }
}

func filled(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }
