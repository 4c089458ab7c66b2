internal import StrataFiles

/// The names of a log and of the data file that it belongs to, with the files that they led to when the log was made.
/// A user may rename, replace or remove either at any time.
struct LogNames: Sendable {
    private let path: String
    private let data: String
    private let fileSystem: any FileSystem
    /// Nil until the log's file is made.
    private var files: (log: FileStatus, data: FileStatus?)?
    /// Whether the log is one that was written again.
    private var isCopy = false

    init(log path: String, data: String, _ fileSystem: any FileSystem) {
        self.path = path
        self.data = data
        self.fileSystem = fileSystem
    }

    /// These names, with the files that they lead to now.
    func ofFiles(_ log: any File) throws(FileError) -> LogNames {
        var names = self
        names.files = (try log.status(), try fileSystem.status(data))
        return names
    }

    /// What a log is copied to before it has its name back.
    static func unfinishedPath(_ logPath: String) -> String { logPath + ".copying" }

    // MARK: Making the file

    /// A file for a log, empty or full of what an earlier log left, that no other process appends to.
    ///
    /// A file that stands there is removed. Where this process may not do so, because another user's process left it in
    /// a directory with the sticky bit, the log is written over it, unless a process still has it open to append.
    /// - Throws: ``FileError/isKeptOut`` then.
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

    /// Of the log: the process has the lock that appends to it.
    private static let appendersByte: Int64 = 1 << 62

    /// Gives the space of a half-made log back. That it cannot be removed is not what the caller has to hear about.
    func removeUnfinished(_ path: String) { do throws(FileError) { try fileSystem.remove(path) } catch {} }

    // MARK: Names that lead elsewhere

    /// Whether the log's name leads to another file by now, or to none.
    /// - Throws: `stale` where the data file's name does as well: the store was moved or replaced with its log.
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

    /// Copies a log to its name, durably. What stands there by now is renamed: a user put it there.
    /// - Returns: the copy, and the names with it.
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

    /// Renames a log that was written again, where it still has its name: another data file stands beside it by now.
    /// Where the rename fails, the next open of that file reports the log as damage.
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

    /// Gives what stands in the place of a log another name, durably: it is of a store that stood here before, or a
    /// user put it there, and it may be all that is left of some commits.
    /// - Parameter suffix: of the name, behind `NAME.log.`; a number follows where that is taken.
    static func setAside(_ path: String, as suffix: String, _ fileSystem: any FileSystem) throws(FileError) {
        let name = "\(path).\(suffix)"
        var number = 1
        while try fileSystem.status(number == 1 ? name : "\(name)-\(number)") != nil { number += 1 }
        try fileSystem.renameNew(path, to: number == 1 ? name : "\(name)-\(number)")
        try fileSystem.syncDirectory(of: path)
    }
}
