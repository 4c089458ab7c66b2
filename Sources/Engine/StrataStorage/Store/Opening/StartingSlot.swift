internal import StrataFiles

/// The header slot in force of a data file. If the other slot is unreadable, and may have been the newer one, the slot
/// here requires the log that the other one may have required.
struct StartingSlot {
    private(set) var choice: HeaderSlot.Choice
    let status: FileStatus
    /// Size of the data file in bytes, without the overhead of encryption.
    let size: Int64

    /// - Throws: `notAStore`, `unsupportedFormat`; `corrupt` when the slots contradict each other, the file or its log;
    ///   `file`.
    init(_ file: any File, _ path: String, _ options: StoreOptions) throws(StorageError) {
        do throws(FileError) {
            size = try file.size()
            status = try file.status()
        } catch {
            throw StorageError(error)
        }
        guard status.isRegularFile, size >= Int64(Format.firstDataPage * Format.pageSize) else {
            if status.isRegularFile, size >= Int64(Format.slotSize), case .valid = try Self.read(file, 0) {
                throw .corrupt(page: PageNumber(1), offset: 0, reason: .fileTooShort)
            }
            throw .notAStore(path: path)
        }
        guard let found = try HeaderSlot.choose(try Self.read(file, 0), try Self.read(file, 1), path: path) else {
            throw .notAStore(path: path)
        }
        choice = found
        guard choice.slot.pageCount <= UInt64(size) / UInt64(Format.pageSize), choice.slot.pageCount >= 2 else {
            throw .corrupt(
                page: PageNumber(UInt32(clamping: size / Int64(Format.pageSize))), offset: 0, reason: .fileTooShort)
        }
        if !choice.slot.logRequired, choice.isOtherLost { try adoptLostLog(path, options) }
    }

    /// Requires the log if the other, unreadable slot may have been newer and required it.
    private mutating func adoptLostLog(_ path: String, _ options: StoreOptions) throws(StorageError) {
        let found: LogHeader?
        do throws(StorageError) {
            found = try LogFile.header(fileSystem: options.fileSystem, path: Store.logPath(path))
        } catch {
            // The log belongs to a store of an older format, and this store never had one.
            if error.isOlderFormat { return }
            throw error
        }
        guard let header = found else { return }
        switch LeftLogFacts(header, slot: choice.slot, isOtherSlotLost: true).answer {
        case .ignore, .open, .replayOnTrial: break
        case .damage: throw .corrupt(page: PageNumber(0), offset: 0, reason: .header)
        case .require:
            mark(.lostSlot)
            choice.slot.logRequired = true
            choice.slot.salt = header.salt
            choice.slot.logHalf = 0
            choice.slot.logReach = 0
        }
    }

    /// The version of a slot.
    static func version(_ slot: HeaderSlot, _ reader: PageReader) throws(StorageError) -> VersionState {
        if slot.root.isNull { return .empty }
        let version = try RootNode.read(slot.root, reader)
        guard version.version == slot.checkpoint.rawValue else {
            throw .corrupt(page: PageNumber(slot.root.page), offset: 24, reason: .structure)
        }
        return version
    }

    /// One of the two slots of a data file.
    static func read(_ file: any File, _ index: Int) throws(StorageError) -> HeaderSlot.Decoded {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.slotSize, alignment: 8)
        defer { buffer.deallocate() }
        do throws(FileError) {
            let count = try file.read(into: buffer, at: Int64(index * Format.pageSize))
            if count < Format.slotSize { return .foreign }
        } catch {
            throw StorageError(error)
        }
        return HeaderSlot.decode(UnsafeRawBufferPointer(buffer), at: index)
    }
}
