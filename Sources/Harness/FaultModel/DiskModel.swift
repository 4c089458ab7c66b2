/// A disk as a program sees it, and the part of it that would survive a power failure.
///
/// The rules, which tests state one by one:
/// 1. Everything that a successful sync covered is on disk, whatever happens later.
/// 2. Unsynced data may be on disk or not, sector by sector, in any order. A sector is 512 bytes and is never torn; it
///    goes to disk as it was when the write was made, with earlier writes to the same sector in it.
/// 3. A file's size is separate from its contents. Size changes of one file reach the disk in order.
/// 4. Names are separate from both: a sync of the file does not cover its name, a sync of the directory does. Changes
///    to one name reach the disk in order, others in any order.
/// 5. After a failed sync the contents that it should have covered stay uncertain for ever: the system marks their
///    pages clean, and a later sync writes only later changes. Programs still read the new contents. Sizes and names
///    belong to the file system, and a later sync covers them.
/// 6. The death of a process changes nothing.
package struct DiskModel: Sendable {
    /// The part that is certainly on disk.
    package private(set) var durable: DiskImage
    /// What programs see.
    package private(set) var current: DiskImage
    /// Later operations that may not be on disk, oldest first.
    package private(set) var pending: [PendingOperation] = []
    /// Records applied so far.
    package private(set) var operations = 0

    let profile: CrashProfile

    package init(_ image: DiskImage, profile: CrashProfile = .strict) {
        durable = image
        current = image
        self.profile = profile
    }

    /// A model after the first `count` records.
    package init(
        _ image: DiskImage, after count: Int, of records: [IORecord], profile: CrashProfile = .strict
    ) {
        self.init(image, profile: profile)
        for record in records.prefix(count) { apply(record) }
    }

    package mutating func apply(_ record: IORecord) {
        defer { operations += 1 }
        switch record.action {
        case .create(let path, let inode):
            if record.failed { return }
            current.files[inode] = FileImage()
            durable.files[inode] = FileImage()
            change(.link(path: path, inode: inode), record)
        case .remove(let path):
            if record.failed { return }
            change(.unlink(path: path), record)
        case .rename(let path, let destination):
            if record.failed { return }
            change(.rename(path: path, destination: destination), record)
        case .write(let inode, let offset, let bytes):
            write(bytes, at: offset, of: inode, record)
        case .truncate(let inode, let size):
            if record.failed { return }
            resize(inode, to: size, record)
        case .preallocate(let inode, let size):
            if record.failed || size <= current.files[inode]?.size ?? 0 { return }
            resize(inode, to: size, record)
        case .link(let path, let inode):
            if record.failed { return }
            change(.link(path: path, inode: inode), record)
        case .sync(let inode):
            let journal = journalOfSync(record)
            settle(failed: record.failed) {
                $0.entry == nil && $0.inode == inode || journal.contains($0.record)
            }
        case .syncRange(let inode, let offset, let count):
            // The range limits which contents are written out, and not what the journal commits.
            let journal = journalOfSync(record)
            settle(failed: record.failed) { operation in
                if journal.contains(operation.record) { return true }
                guard operation.inode == inode, operation.entry == nil else { return false }
                return operation.data?.lies(in: offset, count: count) ?? true
            }
            if !record.failed { settleSizes(of: inode) }
        case .syncDirectory(let path):
            var journal: Set<Int> = []
            if profile.hasJournal, !record.failed {
                let last = pending.lastIndex { $0.entry?.directories.contains(path) == true }
                journal = journalled(before: last.map { $0 + 1 } ?? 0)
            }
            settle(failed: record.failed) { $0.entry?.directory == path || journal.contains($0.record) }
        case .writeBack:
            break
        }
    }

    private mutating func change(_ entry: EntryChange, _ record: IORecord) {
        var operation = PendingOperation(
            record: operations, role: record.identity.role, inode: nil, entry: entry)
        if case .rename(let path, let destination) = entry, let old = current.entries[destination],
            let new = current.entries[path], old != new
        {
            operation.replacement = new
        }
        entry.apply(to: &current.entries)
        pending.append(operation)
    }

    /// The records that the sync of a file takes to the disk by the file system's journal.
    private func journalOfSync(_ record: IORecord) -> Set<Int> {
        profile.hasJournal && !record.failed ? journalled(before: pending.count) : []
    }

    /// The records that are on disk once the journal has written the first `end` pending operations: its changes among
    /// them, and the writes that these wait for.
    private func journalled(before end: Int) -> Set<Int> {
        var records: Set<Int> = []
        var lengthening: [Inode: [Int]] = [:]
        for operation in pending[..<end] {
            if operation.lengthens, let inode = operation.inode {
                lengthening[inode, default: []].append(operation.record)
            }
            guard operation.isJournalled else { continue }
            records.insert(operation.record)
            if let inode = operation.rest, let earlier = lengthening.removeValue(forKey: inode) {
                records.formUnion(earlier)
            }
        }
        return records
    }

    private mutating func write(_ bytes: [UInt8], at offset: Int64, of inode: Inode, _ record: IORecord) {
        if bytes.isEmpty { return }
        let before = current.files[inode, default: FileImage()].size
        bytes.withUnsafeBytes { current.files[inode, default: FileImage()].write($0, at: offset) }
        let after = current.files[inode, default: FileImage()].size
        let sector = FileImage.sectorSize
        let first = Int(offset) / sector
        let last = (Int(offset) + bytes.count - 1) / sector
        let isAligned = Int(offset) % sector == 0 && bytes.count % sector == 0
        // Whole sectors as they are now, so that a sector on disk always was in memory once.
        let content =
            isAligned
            ? bytes
            : current.files[inode, default: FileImage()]
                .bytes(at: Int64(first * sector), count: (last - first + 1) * sector)
        var operation = PendingOperation(record: operations, role: record.identity.role, inode: inode)
        operation.data = PendingOperation.Data(firstSector: first, content: content)
        if after != before { operation.size = PendingOperation.Size(before: before, after: after) }
        pending.append(operation)
    }

    private mutating func resize(_ inode: Inode, to size: Int64, _ record: IORecord) {
        let before = current.files[inode, default: FileImage()].size
        if size == before { return }
        current.files[inode, default: FileImage()].setSize(size)
        var operation = PendingOperation(record: operations, role: record.identity.role, inode: inode)
        operation.size = PendingOperation.Size(before: before, after: size)
        pending.append(operation)
    }

    /// Decides the operations that a sync covered: on disk, or uncertain for ever.
    private mutating func settle(failed: Bool, _ isCovered: (PendingOperation) -> Bool) {
        // With the profile `prefix`, an operation on disk implies all operations before it.
        let inOrder = profile == .prefix && !failed ? (pending.lastIndex(where: isCovered) ?? -1) + 1 : 0
        for index in pending.indices where index < inOrder || isCovered(pending[index]) {
            if !failed {
                if pending[index].fate == .open { pending[index].fate = .durable }
                pending[index].isSizeDurable = true
            } else if pending[index].data != nil, pending[index].fate == .open {
                pending[index].fate = .doubtful
            }
        }
        if failed { return }
        // An entry on disk implies that earlier changes of its name are on disk, too.
        var certain: Set<String> = []
        for index in pending.indices.reversed() {
            guard let entry = pending[index].entry else { continue }
            if pending[index].fate == .durable || entry.names.contains(where: certain.contains) {
                pending[index].fate = .durable
                certain.formUnion(entry.names)
            }
        }
        foldDurable()
    }

    private mutating func settleSizes(of inode: Inode) {
        for index in pending.indices where pending[index].inode == inode { pending[index].isSizeDurable = true }
        foldDurable()
    }

    /// Moves decided operations into `durable`, unless they depend on undecided ones.
    private mutating func foldDurable() {
        var undecided: Set<Inode> = []
        var durableInodes: Set<Inode> = []
        for operation in pending {
            guard let inode = operation.inode else { continue }
            if operation.isDecided { durableInodes.insert(inode) } else { undecided.insert(inode) }
        }
        for inode in durableInodes where !undecided.contains(inode) { durable.files[inode] = current.files[inode] }
        // In a file with uncertain parts, later durable writes stay in the list, to be applied on top of them.
        pending.removeAll { operation in
            guard operation.isDecided else { return false }
            if let entry = operation.entry {
                entry.apply(to: &durable.entries)
                return true
            }
            return operation.inode.map { !undecided.contains($0) } ?? false
        }
    }
}
