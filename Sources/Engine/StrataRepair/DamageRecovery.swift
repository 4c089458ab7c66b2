internal import StrataFiles
internal import StrataStorage

// Invariants
// 1. A recovery copies the damaged files aside, durably, before it replaces them by a new store.
// 2. At every moment the path leads to the whole damaged store or to the whole new one: one rename replaces it.
// 3. A recovery never touches a file for which the open throws `notAStore` or `unsupportedFormat`.
// 4. One recovery of a path runs at a time, and no process has the store open meanwhile: the recovery locks the damaged
//    file before it reads it, and the new file before that has its name. It unlocks both when the last file of the
//    damaged store beside them is gone.
// 5. A recovery replaces only the file in which its caller found the damage. Another recovery may have put a new store
//    in its place since then, and a process may have written to the new store.
// 6. A recovery that throws before it has replaced the store removes its files, as far as it can: a full disk would be
//    fuller after each attempt.

/// One recovery from damage: makes a new store as the policy says, and replaces the damaged one by it.
struct DamageRecovery {
    private let path: String
    private let options: StoreOptions
    private let policy: DamagePolicy
    private let error: StorageError
    /// The file in which the caller found the damage.
    private let damaged: FileStatus
    private let fileSystem: any FileSystem
    /// The new store, until it replaces the damaged one.
    private var unfinished: String { path + ".mending" }

    init(
        _ path: String, options: StoreOptions, policy: DamagePolicy, file: FileStatus, error: StorageError
    ) throws(StorageError) {
        self.path = try options.resolve(path)
        self.options = options
        self.policy = policy
        self.error = error
        damaged = file
        fileSystem = options.fileSystem
    }

    /// - Returns: nil if the path leads to another file by now, which is left as it is.
    /// - Throws: `inUse` while another process has the store open, or recovers it; `error`; `noSpace`, `file`.
    func run() throws(StorageError) -> DamageReport? {
        if policy == .fail { throw error }
        guard let file = try lock() else { return nil }
        defer { Store.release(file) }
        var new: (any File)?
        defer { if let new { Store.release(new) } }
        var kept: [String] = []
        do throws(StorageError) {
            try clear()
            let outcome = try make()
            var report = try keep(&kept)
            report.outcome = outcome
            new = try lockNew()
            try replace()
            return report
        } catch {
            // An error of the clean-up is dropped: this throws the first error, and the next attempt clears the rest.
            do throws(StorageError) { try clear() } catch {}
            discard(kept)
            throw error
        }
    }

    /// Locks the damaged file; nil if the path leads to another one by now.
    private func lock() throws(StorageError) -> (any File)? {
        do throws(FileError) {
            guard try fileSystem.leads(path, to: damaged) else { return nil }
            let file = try fileSystem.open(path, .write)
            guard try file.tryLock(byte: LockByte.open, exclusive: true) else {
                file.close()
                throw FileError.keptOut(path: path)
            }
            // Another recovery may have replaced the file before this one had the lock.
            if try file.status().isSameFile(as: damaged), try fileSystem.leads(path, to: damaged) { return file }
            Store.release(file)
            return nil
        } catch {
            throw error.isKeptOut ? .inUse(path: path) : StorageError(error)
        }
    }

    /// Locks the new store under its unfinished name.
    private func lockNew() throws(StorageError) -> any File {
        do throws(FileError) {
            let file = try fileSystem.open(unfinished, .write)
            if try file.tryLock(byte: LockByte.open, exclusive: true) { return file }
            file.close()
        } catch {
            throw StorageError(error)
        }
        throw .inUse(path: unfinished)
    }

    /// Removes the files of an interrupted attempt.
    private func clear() throws(StorageError) {
        do throws(FileError) {
            for name in [unfinished, Store.logPath(unfinished)] where try fileSystem.status(name) != nil {
                try fileSystem.remove(name)
            }
        } catch {
            throw StorageError(error)
        }
    }

    // MARK: The new store

    private func make() throws(StorageError) -> DamageReport.Outcome {
        let slots = try readSlots()
        let newest = slots.map(\.slot.checkpoint).max() ?? TransactionID(0)
        switch policy {
        case .fail: throw error
        case .startAfresh:
            try openUnfinished { (_) throws(StorageError) in }
            return .startedAfresh(newest: newest)
        case .salvage:
            var salvage = SalvageOptions()
            salvage.limits = options.limits
            salvage.cipher = options.cipher
            salvage.isLockedHere = true
            return .salvaged(try Salvage.run(from: path, to: unfinished, fileSystem: fileSystem, options: salvage))
        case .lastGoodVersion:
            // Tries the newest slot first, and each one with its log, as far as that verifies, and then without.
            for (slot, index) in slots.sorted(by: { $0.slot.sequence > $1.slot.sequence }) {
                for usesLog in slot.logRequired ? [true, false] : [false] {
                    if let version = try tryVersion(slot, index, usesLog: usesLog) {
                        return .wentBack(to: version, newest: max(newest, try lastLogged(slots.map(\.slot))))
                    }
                }
            }
            throw error
        }
    }

    private func readSlots() throws(StorageError) -> [(slot: HeaderSlot, index: Int)] {
        let file: any File
        do { file = options.dataFile(try fileSystem.open(path, .read)) } catch { throw StorageError(error) }
        defer { file.close() }
        var slots: [(slot: HeaderSlot, index: Int)] = []
        for index in 0...1 {
            if case .valid(let slot) = try Store.slot(file, index) { slots.append((slot, index)) }
        }
        return slots
    }

    /// Opens a copy of the damaged file with one slot only; returns the version if all of it verifies.
    private func tryVersion(
        _ slot: HeaderSlot, _ index: Int, usesLog: Bool
    ) throws(StorageError) -> TransactionID? {
        try clear()
        _ = try copy(path, to: unfinished)
        var slot = slot
        if !usesLog { slot.makeClean() }
        let log = Store.logPath(path)
        do throws(FileError) {
            if usesLog {
                guard try fileSystem.status(log) != nil else { return nil }
            }
            let file = options.dataFile(try fileSystem.open(unfinished, .write))
            defer { file.close() }
            try write(slot, to: file, at: index)
            slot.sequence += 1
            try write(slot, to: file, at: 1 - index)
        } catch {
            throw StorageError(error)
        }
        if usesLog { _ = try copy(log, to: Store.logPath(unfinished)) }
        do throws(StorageError) {
            var version = TransactionID(0)
            try openUnfinished { (store) throws(StorageError) in
                do { try store.checkInvariants() } catch let error as StorageError { throw error } catch {
                    throw self.error
                }
                version = store.newestVersion
            }
            return version
        } catch {
            if error.isDamage { return nil }
            if case .misuse = error { return nil }
            throw error
        }
    }

    private func write(_ slot: HeaderSlot, to file: any File, at index: Int) throws(FileError) {
        let bytes = slot.encode(at: index)
        var failure: FileError?
        bytes.withUnsafeBytes { buffer in
            do throws(FileError) { try file.write(buffer, at: Int64(index * Format.pageSize)) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Opens the new store, runs `body`, and closes it durably.
    private func openUnfinished(
        _ body: (Store) throws(StorageError) -> Void
    ) throws(StorageError) {
        var plain = options
        plain.compactOnLaunch = nil
        plain.readOnly = false
        plain.toleratesLogLoss = true
        plain.madeLike = path
        let store = try Store.openPlain(path: unfinished, options: plain)
        do throws(StorageError) { try body(store) } catch {
            do throws(StorageError) { try store.close() } catch {}
            throw error
        }
        try store.close()
    }

    /// The last version that is in the log, if the log belongs to one of the slots; 0 if none can be read.
    private func lastLogged(_ slots: [HeaderSlot]) throws(StorageError) -> TransactionID {
        var last = TransactionID(0)
        for slot in slots where slot.logRequired {
            do throws(StorageError) {
                let log = try LogFile.open(
                    fileSystem: fileSystem, path: Store.logPath(path), storeID: slot.storeID, salt: slot.salt,
                    readOnly: true, cipher: options.cipher)
                defer { log.close() }
                last = max(last, try log.lastVersion())
            } catch {
                if !error.isDamage { throw error }
            }
        }
        return last
    }

    // MARK: Files

    /// Copies the damaged files aside, durably.
    /// - Parameter copies: the paths of the finished copies are added here, also if this throws.
    private func keep(_ copies: inout [String]) throws(StorageError) -> DamageReport {
        var number = 1
        do throws(FileError) {
            while try isTaken("\(path).damaged-\(number)") { number += 1 }
        } catch {
            throw StorageError(error)
        }
        let kept = "\(path).damaged-\(number)"
        var report = DamageReport(
            error: error, outcome: .startedAfresh(newest: TransactionID(0)), keptPath: kept, keptLogPath: nil,
            unreadableBytes: try copy(path, to: kept))
        copies.append(kept)
        do throws(FileError) {
            if try fileSystem.status(Store.logPath(path)) != nil { report.keptLogPath = Store.logPath(kept) }
        } catch {
            throw StorageError(error)
        }
        if let log = report.keptLogPath {
            report.unreadableBytes += try copy(Store.logPath(path), to: log)
            copies.append(log)
        }
        return report
    }

    /// Whether a copy of a data file stands at the path, or the log of one that is gone: a recovery overwrites neither.
    private func isTaken(_ copy: String) throws(FileError) -> Bool {
        if try fileSystem.status(copy) != nil { return true }
        return try fileSystem.status(Store.logPath(copy)) != nil
    }

    /// Removes the copies that this recovery has made, unless it has replaced the damaged store.
    private func discard(_ copies: [String]) {
        // An error is dropped: the caller throws the first one. Copies that stay are complete.
        do throws(FileError) {
            guard try fileSystem.leads(path, to: damaged) else { return }
            for copy in copies.reversed() { try fileSystem.remove(copy) }
        } catch {}
    }

    /// Renames the new store to the path, and removes the log and the record of the damaged one. If the process dies in
    /// between, the next open removes the log, which does not belong to the new store.
    private func replace() throws(StorageError) {
        do throws(FileError) {
            try fileSystem.syncDirectory(of: path)
            try fileSystem.rename(unfinished, to: path)
            try fileSystem.syncDirectory(of: path)
        } catch {
            throw StorageError(error)
        }
        try LogFile.remove(fileSystem: fileSystem, path: Store.logPath(path))
        DamageRegister.removeRecord(ofStoreAt: path, fileSystem)
    }

    /// Copies a file with its holes, and syncs the copy. Removes the copy if it cannot be finished.
    /// - Returns: bytes that could not be read, and are zeros in the copy.
    private func copy(_ source: String, to destination: String) throws(StorageError) -> Int {
        var isUnfinished = false
        // An error of the removal is dropped: the first error is the one to report.
        defer { if isUnfinished { do throws(FileError) { try fileSystem.remove(destination) } catch {} } }
        do throws(FileError) {
            let from = try fileSystem.open(source, .read)
            defer { from.close() }
            let to = try fileSystem.open(destination, .createBeside(source))
            defer { to.close() }
            isUnfinished = true
            let lost = try copy(from, to: to)
            isUnfinished = false
            return lost
        } catch {
            throw StorageError(error)
        }
    }

    private func copy(_ from: any File, to: any File) throws(FileError) -> Int {
        let size = Int(try from.size())
        try to.truncate(to: Int64(size))
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 4096)
        defer { piece.deallocate() }
        var lost = 0
        var offset = 0
        while offset < size, let data = from.nextData(from: Int64(offset)), data.lowerBound < size {
            // Whole pages, so that an unreadable page is lost alone.
            offset = max(offset, Int(data.lowerBound) / Format.pageSize * Format.pageSize)
            let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, size - offset)])
            lost += read(part, from, offset)
            try to.write(UnsafeRawBufferPointer(part), at: Int64(offset))
            offset += part.count
        }
        // If another program has truncated the file, there is neither data nor a hole where its end was.
        lost += max(0, size - max(offset, Int(try from.size())))
        try to.syncData()
        return lost
    }

    /// Reads page by page if a larger read fails, or is short because another program has truncated the file.
    /// - Returns: bytes that could not be read, and are zeros now.
    private func read(_ part: UnsafeMutableRawBufferPointer, _ file: any File, _ offset: Int) -> Int {
        let count: Int
        do throws(FileError) { count = try file.read(into: part, at: Int64(offset)) } catch { count = 0 }
        if count == part.count { return 0 }
        if part.count <= Format.pageSize {
            UnsafeMutableRawBufferPointer(rebasing: part[count...]).initializeMemory(as: UInt8.self, repeating: 0)
            return part.count - count
        }
        var lost = 0
        for start in stride(from: 0, to: part.count, by: Format.pageSize) {
            let end = min(start + Format.pageSize, part.count)
            lost += read(UnsafeMutableRawBufferPointer(rebasing: part[start..<end]), file, offset + start)
        }
        return lost
    }
}
