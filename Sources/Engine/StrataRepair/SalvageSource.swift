internal import StrataFiles
internal import StrataStorage

/// A damaged store, opened read-only. It verifies every node that it returns, and notes each one that fails.
///
/// Concurrency: confined to the salvage.
final class SalvageSource {
    let path: String
    let fileSystem: any FileSystem
    let reader: PageReader
    /// Whole pages of the file.
    let pageCount: Int
    private let file: any File
    /// The cipher under the caller's key; nil for a plain store.
    private let cipher: (any Cipher)?
    private(set) var slots: [HeaderSlot.Decoded] = []
    /// Slots that differ from what was written, including those in which a flipped bit was corrected.
    private var damagedSlots: [Int] = []
    private(set) var damage: [SalvageReport.Damage] = []
    private(set) var unlistedDamage = 0
    private let listed: Int
    private var noted: Set<UInt32> = []
    private var written: WrittenPages
    /// Pages outside the file's holes.
    let writtenPages: Int
    /// Pages that the newest state reaches, or reached before they were damaged.
    private var visited = PageSet()
    /// Pages of values that were returned.
    private var taken = PageSet()
    /// Elements that the remaining trees can have: each leaf has a page of its own.
    private var elementsLeft: Int

    /// - Throws: `inUse`; `notAStore` if the path is no regular file; `keyRequired`, `wrongKey`, `notEncrypted`;
    ///   `unsupportedFormat`, `file`.
    init(_ path: String, _ fileSystem: any FileSystem, _ options: SalvageOptions) throws(StorageError) {
        self.path = try StoreOptions(fileSystem: fileSystem).resolve(path)
        self.fileSystem = fileSystem
        listed = options.listed
        cipher = options.cipher
        do throws(FileError) {
            let opened = try fileSystem.open(path, .read)
            var asStore = StoreOptions(fileSystem: fileSystem)
            asStore.cipher = options.cipher
            let file = asStore.dataFile(opened)
            self.file = file
            guard try file.status().isRegularFile else { throw FileError(.open, path: path, errno: 0) }
            if !options.isLockedHere, try !file.tryLock(byte: LockByte.open, exclusive: false) {
                throw FileError.keptOut(path: path)
            }
            if fileSystem.isShared, !options.isOpenHere, try file.isLocked(byte: LockByte.attached) {
                throw FileError.keptOut(path: path)
            }
            pageCount = try Self.pageCount(file)
        } catch {
            if error.isKeptOut { throw .inUse(path: path) }
            if error.errno == 0 && error.operation == .open { throw .notAStore(path: path) }
            throw StorageError(error)
        }
        written = WrittenPages(file, count: pageCount)
        writtenPages = written.total
        elementsLeft = pageCount * CollectionRemains.mostElementsPerPage
        slots = [try Self.readSlot(file, 0), try Self.readSlot(file, 1)]
        for index in 0...1 {
            if case .valid = slots[index] { continue }
            damagedSlots.append(index)
            switch Self.mendedSlot(path, index, fileSystem: fileSystem, cipher: options.cipher) {
            case .slot(let slot): slots[index] = slot
            case .wrongKey: throw .wrongKey(path: path)
            case .notEncrypted: throw .notEncrypted(path: path)
            case nil: break
            }
        }
        for case .unsupported(let version) in slots {
            if version == Format.version | SealedSlot.versionBit { throw .keyRequired(path: path) }
            throw .unsupportedFormat(path: path, version: version & ~SealedSlot.versionBit)
        }
        reader = try Self.open(file, slots, path: self.path, written: written, fileSystem: fileSystem, options: options)
    }

    /// Makes a reader with the seed of the file's store, as far as any trace of its id is left.
    private static func open(
        _ file: any File, _ slots: [HeaderSlot.Decoded], path: String, written: WrittenPages,
        fileSystem: any FileSystem, options: SalvageOptions
    ) throws(StorageError) -> PageReader {
        let pages = written.count
        func reader(_ seed: NodeSeed) throws(StorageError) -> PageReader {
            let map = try PageMap(
                file, reserve: max(pages, 1) * Format.pageSize, fileSystem: fileSystem, checks: .ofTrees, seed: seed)
            map.admit(pages)
            return PageReader(map)
        }
        if let slot = valid(slots).first {
            StoreOptions.identify(file, as: slot.storeID)
            return try reader(NodeSeed(slot.storeID))
        }
        let log = SalvageLog.header(fileSystem, path)
        // Pages of an encrypted store can be read only once its id is known.
        if let cipher = options.cipher {
            if let storeID = try SealedStoreSearch(path, fileSystem, cipher).run(in: file, written) {
                StoreOptions.identify(file, as: storeID)
                return try reader(NodeSeed(storeID))
            }
        } else {
            var search = SeedSearch(try reader(.ofFormat1), written)
            let seed = search.run(log: log.map { NodeSeed($0.storeID) })
            if seed == .ofFormat1 { throw .unsupportedFormat(path: path, version: 1) }
            if let seed { return try reader(seed) }
        }
        guard let log else {
            return try reader(NodeSeed(RandomID.make(fileSystem)))
        }
        StoreOptions.identify(file, as: log.storeID)
        return try reader(NodeSeed(log.storeID))
    }

    /// Whole pages of the file, as far as references can name them.
    private static func pageCount(_ file: any File) throws(FileError) -> Int {
        min(Int(try file.size()) / Format.pageSize, Int(Format.arenaBit) - 1)
    }

    /// The first page at or after `page` outside the file's holes; ``pageCount`` if there is none.
    func nextWritten(_ page: Int) -> Int { written.next(from: page) }

    /// The sealing that opens the payloads of a log; nil for a plain store.
    func logSealing(_ storeID: RandomID) -> LogSealing? { LogSealing(cipher, storeID, fileSystem) }

    deinit { Store.release(file) }

    private static func readSlot(_ file: any File, _ index: Int) throws(StorageError) -> HeaderSlot.Decoded {
        var refusal: FileError?
        let decoded = withUnsafeTemporaryAllocation(byteCount: Format.slotSize, alignment: 8) { buffer in
            do throws(FileError) {
                guard try file.read(into: buffer, at: Int64(index * Format.pageSize)) == Format.slotSize else {
                    return HeaderSlot.Decoded.damaged
                }
            } catch {
                if error.operation == .wrongKey || error.operation == .notEncrypted { refusal = error }
                return .damaged
            }
            return HeaderSlot.decode(UnsafeRawBufferPointer(buffer), at: index)
        }
        if let refusal { throw StorageError(refusal) }
        return decoded
    }

    private static func mendedSlot(
        _ path: String, _ index: Int, fileSystem: any FileSystem, cipher: (any Cipher)?
    ) -> SlotMending.Found? {
        withUnsafeTemporaryAllocation(byteCount: Format.slotSize, alignment: 8) { buffer in
            do throws(FileError) {
                let file = try fileSystem.open(path, .read)
                defer { file.close() }
                guard try file.read(into: buffer, at: Int64(index * Format.pageSize)) == Format.slotSize else {
                    return nil
                }
            } catch {
                return nil
            }
            return SlotMending.decode(buffer, at: index, cipher)
        }
    }

    /// The valid slots, newest first.
    var validSlots: [HeaderSlot] { Self.valid(slots) }

    private static func valid(_ slots: [HeaderSlot.Decoded]) -> [HeaderSlot] {
        slots.compactMap { decoded -> HeaderSlot? in
            if case .valid(let slot) = decoded { return slot }
            return nil
        }.sorted { $0.sequence > $1.sequence }
    }

    // MARK: Nodes

    /// The bytes of a node that verifies against its reference; nil, with a note, otherwise.
    func node(_ reference: NodeReference, _ kind: NodeKind, table: UInt32 = 0) -> UnsafeRawPointer? {
        visit(reference)
        do throws(StorageError) {
            let node = try reader.node(reference, kind)
            if table == 0 || NodeHeader.table(node) == table { return node }
            throw .corrupt(page: PageNumber(reference.page), offset: 4, reason: .structure)
        } catch {
            note(error, reference, table)
            return nil
        }
    }

    /// As ``node(_:_:table:)``, for nodes that may be stale: failures are not noted.
    func peek(_ reference: NodeReference, _ kind: NodeKind, table: UInt32) -> UnsafeRawPointer? {
        do throws(StorageError) {
            let node = try reader.node(reference, kind)
            return NodeHeader.table(node) == table ? node : nil
        } catch {
            return nil
        }
    }

    func note(_ error: StorageError, _ reference: NodeReference, _ table: UInt32) {
        guard noted.insert(reference.page).inserted else { return }
        if damage.count >= listed {
            unlistedDamage += 1
            return
        }
        var found = SalvageReport.Damage(
            page: PageNumber(reference.page), pages: Int(reference.pages), offset: 0,
            kind: NodeKind(rawValue: reference.kindCode), table: table == 0 ? nil : TableID(table), reason: .structure)
        if case .corrupt(_, let offset, let reason) = error {
            found.offset = offset
            found.reason = reason
        }
        damage.append(found)
    }

    /// Notes slots that do not verify.
    func noteSlots() {
        for index in damagedSlots {
            damage.append(
                SalvageReport.Damage(
                    page: PageNumber(UInt32(index)), pages: 1, offset: 0, kind: nil, table: nil, reason: .header))
        }
    }

    /// Excludes a node's pages from the scan for nodes without parents.
    func visit(_ reference: NodeReference) {
        let first = Int(reference.page)
        if first >= pageCount { return }
        for page in first..<min(first + Int(reference.pages), pageCount) { visited.insert(page) }
    }

    /// Takes the pages of a long value. If a forged file references its node again, those values are lost: a small file
    /// could otherwise fill any disk.
    /// - Returns: whether none of the pages was taken before.
    func take(_ reference: NodeReference) -> Bool {
        guard Int(reference.page) + Int(reference.pages) <= pageCount else { return false }
        let pages = Int(reference.page)..<(Int(reference.page) + Int(reference.pages))
        if pages.contains(where: { taken.contains($0) }) { return false }
        for page in pages { taken.insert(page) }
        return true
    }

    /// Takes a tree's elements from the budget of all trees.
    /// - Returns: false if the budget is smaller.
    func take(elements: Int) -> Bool {
        if elements > elementsLeft { return false }
        elementsLeft -= elements
        return true
    }

    /// Whether the first page of a node was excluded from the scan by ``visit(_:)``, or is outside the file.
    func isVisitedNode(_ reference: NodeReference) -> Bool {
        Int(reference.page) >= pageCount || isVisited(Int(reference.page))
    }

    func isVisited(_ page: Int) -> Bool { visited.contains(page) }

    // MARK: The newest state

    /// The free map at a reference; nil if any of its nodes fails.
    func freeMap(_ reference: NodeReference) -> FreeMap? {
        if reference.isNull { return FreeMap() }
        do throws(StorageError) {
            let map = try FreeMap(reference, reader)
            for node in map.nodes { visit(node) }
            return map
        } catch {
            note(error, reference, 0)
            return nil
        }
    }

    /// Whether there is a file at the log's path.
    var hasLog: Bool {
        do throws(FileError) { return try fileSystem.status(Store.logPath(path)) != nil } catch { return true }
    }

    /// The bytes of the log; nil if there is none that can be read.
    func readLog() -> LogBytes? {
        do throws(FileError) {
            let path = Store.logPath(path)
            guard let status = try fileSystem.status(path), status.isRegularFile, status.size > Format.slotSize,
                status.size <= Int64(LogFormat.fileBytes(halfBytes: LogFormat.maxHalfBytes))
            else { return nil }
            let log = try fileSystem.open(path, .read)
            defer { log.close() }
            return try LogBytes(log, count: Int(status.size))
        } catch {
            return nil
        }
    }
}
