internal import StrataFiles

/// The names of a log and of its data file, and the identities of both files when the log was made. A user may rename,
/// replace or remove either file at any time.
struct LogNames: Sendable {
    private let path: String
    private let data: String
    private let fileSystem: any FileSystem
    /// Nil until the log's file is made.
    private var files: (log: FileStatus, data: FileStatus?)?
    /// Whether the log is a copy, made when the log's name led to another file or to none.
    private var isCopy = false

    init(log path: String, data: String, _ fileSystem: any FileSystem) {
        self.path = path
        self.data = data
        self.fileSystem = fileSystem
    }

    /// The names with the identities of this log's file, and of the file to which the data file's name leads.
    func ofFiles(_ log: any File) throws(FileError) -> LogNames {
        var names = self
        names.files = (try log.status(), try fileSystem.status(data))
        return names
    }

    /// Path of a copy of the log until it gets the log's name.
    static func unfinishedPath(_ logPath: String) -> String { logPath + ".copying" }

    // MARK: Creation

    /// Makes an empty file for a log, to which no other process appends.
    ///
    /// This removes an existing file. If this process may not remove it (another user's file in a directory with the
    /// sticky bit), it truncates the file and takes it over.
    /// - Throws: ``FileError/isKeptOut`` if another process still has the file to be taken over open for appending.
    func makeFile() throws(FileError) -> any File {
        if let status = try fileSystem.status(path) {
            do throws(FileError) { try fileSystem.remove(path) } catch {
                guard error.isRefused, status.isRegularFile else { throw error }
                mark(.logTakenOver)
                let file = try fileSystem.open(path, .write)
                guard try file.tryLock(byte: Self.appendersByte, exclusive: true) else {
                    file.close()
                    throw .keptOut(path: path)
                }
                try file.truncate(to: 0)
                return file
            }
        }
        let file = try fileSystem.open(path, .createBeside(data))
        if fileSystem.isShared { _ = try file.tryLock(byte: Self.appendersByte, exclusive: true) }
        return file
    }

    /// Locked by the process that appends to the log.
    private static let appendersByte: Int64 = 1 << 62

    /// Removes an unfinished log to free its space. An error is dropped: the caller has another one to report.
    func removeUnfinished(_ path: String) { do throws(FileError) { try fileSystem.remove(path) } catch {} }

    // MARK: Changed names

    /// Whether the log's name leads to another file by now, or to none.
    /// - Throws: `stale` if the data file's name does so, too: the store was moved or replaced together with its log.
    var isLogGone: Bool {
        get throws(StorageError) {
            guard let files, fileSystem.isPersistent else { return false }
            if try leads(path, to: files.log) { return false }
            if let store = files.data, try !leads(data, to: store) { throw .stale(path: data) }
            return true
        }
    }

    private func leads(_ path: String, to file: FileStatus) throws(StorageError) -> Bool {
        do throws(FileError) { return try fileSystem.leads(path, to: file) } catch { throw StorageError(error) }
    }

    /// Makes a copy of a log and gives it the log's name, durably. A file that has the name by now, which a user put
    /// there, is renamed.
    /// - Returns: the copy, and the names with its identity.
    func copy(of log: any File, count: Int) throws(StorageError) -> (file: any File, names: LogNames) {
        let unfinished = Self.unfinishedPath(path)
        do throws(FileError) {
            if try fileSystem.status(unfinished) != nil { try fileSystem.remove(unfinished) }
            let copy = try fileSystem.open(unfinished, .createBeside(data))
            do throws(FileError) {
                if fileSystem.isShared { _ = try copy.tryLock(byte: Self.appendersByte, exclusive: true) }
                try copy.preallocate(to: Int64(count))
                try transfer(log, to: copy, count: count)
                try copy.syncData()
                if try fileSystem.status(path) != nil { try Self.setAside(path, as: "replaced", fileSystem) }
                try fileSystem.renameNew(unfinished, to: path)
                try fileSystem.syncDirectory(of: path)
            } catch {
                copy.close()
                removeUnfinished(unfinished)
                throw error
            }
            var names = try ofFiles(copy)
            names.isCopy = true
            return (copy, names)
        } catch {
            throw StorageError(error)
        }
    }

    /// Renames this log if it is a copy that still has the log's name: the data file beside it is another one by now.
    /// An error is dropped: the next open of that data file then reports the log as damage.
    func giveUpCopy() {
        guard isCopy, let files else { return }
        do throws(FileError) {
            if try fileSystem.leads(path, to: files.log) { try Self.setAside(path, as: "replaced", fileSystem) }
        } catch {}
    }

    private func transfer(_ log: any File, to copy: any File, count: Int) throws(FileError) {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: Format.pageSize)
        defer { piece.deallocate() }
        for offset in stride(from: 0, to: count, by: piece.count) {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, count - offset)])
            let found = try log.read(into: wanted, at: Int64(offset))
            if found < wanted.count { throw FileError(.read, path: path, errno: 0) }
            try copy.write(UnsafeRawBufferPointer(wanted), at: Int64(offset))
        }
    }

    /// Renames the file that has a log's name, durably. It belongs to an earlier store of this path, or a user put it
    /// there; it may hold the last copy of some commits, so this does not remove it.
    /// - Parameter suffix: of the new name, after `NAME.log.`; followed by a number if that name is taken.
    static func setAside(_ path: String, as suffix: String, _ fileSystem: any FileSystem) throws(FileError) {
        let name = "\(path).\(suffix)"
        var number = 1
        while try fileSystem.status(number == 1 ? name : "\(name)-\(number)") != nil { number += 1 }
        try fileSystem.renameNew(path, to: number == 1 ? name : "\(name)-\(number)")
        try fileSystem.syncDirectory(of: path)
    }
}
