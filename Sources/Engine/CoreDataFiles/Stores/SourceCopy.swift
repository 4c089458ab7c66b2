#if SQLite
    import Platform
    import StrataFiles

    /// A private copy of a store for reading: the file, its write-ahead log or its journal. No library opens the store
    /// itself, and no file is created beside it, so that its folder may be read-only.
    ///
    /// The copy is of one moment: it is refused while another program has the store open, and if a file changed during
    /// the copy. It is also refused while this process has the store open, since closing the file would release the
    /// process's locks on it.
    package final class SourceCopy {
        /// The store that the user named.
        package let source: String
        package let folder: String
        package let log: WriteAheadLog
        /// Findings about files beside the store, in sentences.
        package let notes: [String]
        package let bytes: Int64
        /// A new connection; the caller closes it.
        package func connection() throws(CoreDataError) -> SQLiteFile { try SQLiteFile(folder + "/store", .write) }

        /// The folder of external blobs.
        package var externalFolder: String { Self.externalFolder(of: source) }

        private static func externalFolder(of source: String) -> String {
            let slash = source.lastIndex(of: "/").map { source.index(after: $0) } ?? source.startIndex
            let name = source[slash...]
            let stem = String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
            let folder = String(source[..<slash]) + "."
            // The framework names the folder after the file, without its extension.
            let short = folder + stem + "_SUPPORT/_EXTERNAL_DATA"
            return exists(short) ? short : folder + name + "_SUPPORT/_EXTERNAL_DATA"
        }

        /// - Parameters:
        ///   - place: a folder for the copy is made in the folder of this path.
        ///   - times: the free space required beside the copy, as a multiple of the store's size with external blobs.
        package init(of source: String, beside place: String, roomFor times: Int64 = 0) throws(CoreDataError) {
            self.source = source
            if OwnDescriptors.hold(source) {
                throw CoreDataError(.inUse, "\(source) is open in this process: close it, then try again")
            }
            let size = try Self.check(source)
            try Self.refuseOpen(source)
            let walSize = Self.size(source + "-wal") ?? 0
            let journalSize = Self.size(source + "-journal") ?? 0
            bytes = size + walSize + journalSize
            Self.removeLeftOver(beside: place)
            let blobs = times > 0 ? Self.sizeOfFolder(Self.externalFolder(of: source)) : 0
            try Self.requireRoom(
                place, bytes + times * (bytes + blobs), for: "a copy of \(source) and its conversion")
            folder = place + ".source-\(getpid())-\(UInt64.random(in: 0...0xFFFF_FFFF))"
            guard mkdir(folder, 0o700) == 0 else {
                throw CoreDataError(
                    .failure,
                    "\(folder): \(String(cString: strerror(errno))); name a --to in a folder that may be "
                        + "written")
            }
            do throws(CoreDataError) {
                let before = Self.marks(source)
                try Self.copy(source, folder + "/store")
                if walSize > 0 { try Self.copy(source + "-wal", folder + "/store-wal") }
                if journalSize > 0 { try Self.copy(source + "-journal", folder + "/store-journal") }
                try Self.refuseOpen(source)
                guard before == Self.marks(source) else {
                    throw CoreDataError(
                        .inUse,
                        "\(source) was written while it was copied: try again when it is "
                            + "closed")
                }
                let header = try ModelSources.bytes(folder + "/store", first: 100)
                guard header.count == 100 else { throw CoreDataError(.inUse, "\(source) became shorter: try again") }
                let pageSize = Int(header[16]) << 8 | Int(header[17])
                (log, notes) = try Self.logState(
                    source, folder, pageSize: pageSize == 1 ? 65536 : pageSize, isLogged: header[18] == 2,
                    journalSize: journalSize)
            } catch {
                Self.removeCopy(folder)
                throw error
            }
        }

        deinit { Self.removeCopy(folder) }

        // MARK: Files

        private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

        private static func size(_ path: String) -> Int64? {
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : nil
        }

        /// Names of files in a folder; empty if it cannot be read.
        private static func names(in folder: String) -> [String] {
            guard let list = opendir(folder) else { return [] }
            defer { closedir(list) }
            var names: [String] = []
            while let entry = readdir(list) {
                names.append(
                    withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                        String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
                    })
            }
            return names.filter { $0 != "." && $0 != ".." }
        }

        private static func sizeOfFolder(_ folder: String) -> Int64 {
            names(in: folder).reduce(0) { $0 + (size(folder + "/" + $1) ?? 0) }
        }

        /// Removes copies that killed processes left behind.
        private static func removeLeftOver(beside place: String) {
            let slash = place.lastIndex(of: "/").map { place.index(after: $0) } ?? place.startIndex
            let folder = place[..<slash]
            let prefix = place[slash...] + ".source-"
            for name in names(in: folder.isEmpty ? "." : String(folder)) where name.hasPrefix(prefix) {
                guard let number = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }), number > 0,
                    kill(number, 0) != 0, errno == ESRCH
                else { continue }
                removeCopy(folder + name)
            }
        }

        /// Inode, size and time of the last change of each file of the store. They differ when a file was written
        /// meanwhile.
        private static func marks(_ source: String) -> [Int64] {
            ["", "-wal", "-journal"].flatMap { suffix -> [Int64] in
                var status = stat()
                guard stat(source + suffix, &status) == 0 else { return [-1] }
                #if canImport(Glibc)
                    let time = status.st_mtim
                #else
                    let time = status.st_mtimespec
                #endif
                return [Int64(status.st_ino), Int64(status.st_size), Int64(time.tv_sec), Int64(time.tv_nsec)]
            }
        }

        /// Checks that the store is an SQLite database that is not encrypted.
        /// - Returns: its size in bytes.
        private static func check(_ source: String) throws(CoreDataError) -> Int64 {
            guard let size = size(source) else { throw CoreDataError(.wrongInput, "\(source): no such file") }
            let header = try ModelSources.bytes(source, first: 4096)
            guard header.count >= 100 else {
                throw CoreDataError(.notAStore, "\(source) is no SQLite database: it has \(size) bytes")
            }
            if Array(header[..<16]) == Array("SQLite format 3\u{0}".utf8) { return size }
            // In an encrypted file all byte values are about equally frequent.
            let kinds = Set(header).count
            if size % 512 == 0, header.count == 4096, kinds > 230 {
                throw CoreDataError(
                    .encrypted,
                    "\(source) is encrypted as a whole, as by SQLCipher: decrypt it first (sqlcipher_export), then "
                        + "import the plain copy")
            }
            throw CoreDataError(.notAStore, "\(source) is no SQLite database: it does not begin as one")
        }

        /// An open connection holds a lock: on the index of the log, byte 128, or on the store from 2^30 on.
        private static func refuseOpen(_ source: String) throws(CoreDataError) {
            for (path, start, count) in [(source + "-shm", 120, 9), (source, 0x4000_0000, 512)] {
                let descriptor = readable(path)
                if descriptor < 0 { continue }
                defer { close(descriptor) }
                var lock = flock()
                lock.l_type = Int16(F_WRLCK)
                lock.l_whence = Int16(SEEK_SET)
                lock.l_start = off_t(start)
                lock.l_len = off_t(count)
                guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { continue }
                let holder = lock.l_pid > 0 ? " (process \(lock.l_pid))" : ""
                throw CoreDataError(
                    .inUse, "\(source) is open in another program\(holder): close it there, then try again")
            }
        }

        private static func readable(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }

        private static func copy(_ from: String, _ to: String) throws(CoreDataError) {
            func failure(_ path: String) -> CoreDataError {
                CoreDataError(errno == ENOSPC ? .noSpace : .failure, "\(path): \(String(cString: strerror(errno)))")
            }
            let input = open(from, O_RDONLY | O_CLOEXEC)
            guard input >= 0 else { throw failure(from) }
            defer { close(input) }
            let output = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard output >= 0 else { throw failure(to) }
            defer { close(output) }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
            defer { buffer.deallocate() }
            while true {
                let count = read(input, buffer.baseAddress, buffer.count)
                if count == 0 { return }
                if count < 0 {
                    if errno == EINTR { continue }
                    throw failure(from)
                }
                var done = 0
                while done < count {
                    let written = write(output, buffer.baseAddress.map { $0 + done }, count - done)
                    if written < 0 {
                        if errno == EINTR { continue }
                        throw failure(to)
                    }
                    done += written
                }
            }
        }

        private static func removeCopy(_ folder: String) {
            for name in ["store", "store-wal", "store-shm", "store-journal"] { unlink(folder + "/" + name) }
            rmdir(folder)
        }

        /// - Throws: `noSpace` if less is free.
        static func requireRoom(_ place: String, _ bytes: Int64, for what: String) throws(CoreDataError) {
            let free: Int64?
            do { free = try POSIXFileSystem().availableBytes(beside: place) } catch { free = nil }
            guard let free, free < bytes else { return }
            throw CoreDataError(
                .noSpace,
                "\(what) needs \(bytes >> 20) MiB beside \(place), and \(free >> 20) MiB are free: make "
                    + "room, or name another --to")
        }

        // MARK: Log

        /// Reads the log frame by frame: it takes the memory of one frame, however long the log is.
        private static func readLog(_ path: String, _ pageSize: Int) throws(CoreDataError) -> WriteAheadLog {
            let header = try ModelSources.bytes(path, first: WriteAheadLog.headerBytes)
            var log = header.withUnsafeBytes {
                WriteAheadLog(header: $0, byteCount: size(path) ?? Int64(header.count), pageSize: pageSize)
            }
            guard log.state != .damaged else { return log }
            let frame = UnsafeMutableRawBufferPointer.allocate(
                byteCount: WriteAheadLog.frameBytes(pageSize: pageSize), alignment: 8)
            defer { frame.deallocate() }
            do throws(FileError) {
                let file = try POSIXFileSystem().open(path, .readThroughLinks)
                defer { file.close() }
                var place = Int64(WriteAheadLog.headerBytes)
                while try file.read(into: frame, at: place) == frame.count {
                    guard log.add(frame: UnsafeRawBufferPointer(frame)) else { break }
                    place += Int64(frame.count)
                }
            } catch {
                throw CoreDataError(.failure, "\(path): \(error)")
            }
            return log
        }

        private static func logState(
            _ source: String, _ folder: String, pageSize: Int, isLogged: Bool, journalSize: Int64
        ) throws(CoreDataError) -> (WriteAheadLog, [String]) {
            var notes: [String] = []
            if journalSize > 0 {
                notes.append("a rollback journal is there: the copy rolls back its open transaction")
            }
            guard isLogged else { return (WriteAheadLog(), notes) }
            let log = exists(folder + "/store-wal") ? try readLog(folder + "/store-wal", pageSize) : WriteAheadLog()
            switch log.state {
            case .empty:
                notes.append("there is no write-ahead log: the store was closed properly, or the log was lost")
            case .live:
                notes.append(
                    "the write-ahead log is read with the store: \(log.committedFrames) of \(log.frames) pages are "
                        + "committed" + (log.committedFrames < log.frames ? ", the rest never was, or is torn" : ""))
            case .stale: notes.append("the write-ahead log is stale: all of it is in the store already")
            case .damaged:
                throw CoreDataError(
                    .damaged,
                    "\(source)-wal is no write-ahead log of this store: put the right one back, or move it away to "
                        + "read the store as of its last checkpoint")
            }
            guard let size = size(source + "-shm"), size > 0, size < 1 << 26 else { return (log, notes) }
            let index = try ModelSources.bytes(source + "-shm")
            let expected = index.withUnsafeBytes { WriteAheadLog.expectedFrames($0) }
            if expected > log.committedFrames {
                throw CoreDataError(
                    .logLost,
                    "\(source)-wal lacks commits: its index says \(expected) pages, and \(log.committedFrames) are "
                        + "there. Put the complete log back, or move \(source)-shm away to import what is there")
            }
            return (log, notes)
        }
    }

    extension ModelSources {
        /// The first bytes of a file, fewer if it is shorter.
        static func bytes(_ path: String, first count: Int) throws(CoreDataError) -> [UInt8] {
            do throws(FileError) {
                let file = try POSIXFileSystem().open(path, .readThroughLinks)
                defer { file.close() }
                var bytes = [UInt8](repeating: 0, count: count)
                var failure: FileError?
                let read = bytes.withUnsafeMutableBytes { buffer -> Int in
                    do throws(FileError) { return try file.read(into: buffer, at: 0) } catch {
                        failure = error
                        return 0
                    }
                }
                if let failure { throw failure }
                return Array(bytes[..<read])
            } catch {
                throw CoreDataError(.wrongInput, "\(error)")
            }
        }
    }
#endif
