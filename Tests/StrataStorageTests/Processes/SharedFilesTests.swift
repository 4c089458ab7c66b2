import Platform
import StrataFiles
import StrataStorage
import Testing

/// Files of a store that others copy, replace or delete while processes use it.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct SharedFilesTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func options() -> StoreOptions {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = 16 << 10
        options.writeTimeout = 1_000_000
        return options
    }

    private func stop() { close(open(path + ".stop", O_CREAT | O_WRONLY, 0o644)) }

    /// Row 0, which is the sum of the others in every version.
    private func total(_ store: Store) throws -> Int {
        let view = try store.snapshot().view
        var values: [Int] = []
        for row in 0..<8 {
            let place = try #require(try view.locate(0, RowKey(Int64(row))))
            values.append(Int(try view.integer(place, 0) ?? -1))
        }
        #expect(values[0] == values[1...].reduce(0, +))
        return values[0]
    }

    private func contents(_ path: String) throws -> [UInt8]? {
        let files = POSIXFileSystem()
        guard try files.status(path) != nil else { return nil }
        let file: any File
        do { file = try files.open(path, .read) } catch { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return Array(bytes[..<count])
    }

    private func put(_ bytes: [UInt8]?, _ path: String) throws {
        unlink(path)
        guard let bytes else { return }
        let file = try POSIXFileSystem().open(path, .createNew)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.close()
    }

    @Test("copies that a process writes while others commit are complete versions") func copies() throws {
        let writers = try (1...2).map { try StoreWorkerProcess(path, ["increment", "\($0)"], name: "w\($0)") }
        for writer in writers { try writer.waitFor("a", times: 5) }
        let copier = try StoreWorkerProcess(path, ["copy"], name: "copier")
        try copier.waitFor("k", times: 10)
        stop()
        for process in writers + [copier] { #expect(process.wait() == 0, "\(process.errors)") }
        let store = try Store.open(path: path, options: options())
        #expect(try total(store) == writers.reduce(0) { $0 + $1.count("a") })
        try store.close()
    }

    @Test("files copied during writes open as an existing version, or are refused", arguments: [true, false])
    func rawCopies(dataFirst: Bool) throws {
        let writers = try (1...2).map { try StoreWorkerProcess(path, ["increment", "\($0)"], name: "w\($0)") }
        for writer in writers { try writer.waitFor("a", times: 5) }
        let copy = path + "-copy"
        var opened = 0
        var refused: [String: Int] = [:]
        for _ in 0..<60 {
            let first = try contents(dataFirst ? path : path + ".log")
            let second = try contents(dataFirst ? path + ".log" : path)
            let most = writers.reduce(0) { $0 + $1.count("a") + 1 }
            try put(dataFirst ? first : second, copy)
            try put(dataFirst ? second : first, copy + ".log")
            do {
                let store = try Store.open(path: copy, options: options())
                defer { do { try store.close() } catch {} }
                try store.checkInvariants()
                let found = try total(store)
                #expect(found <= most)
                opened += 1
            } catch let error as StorageError {
                refused[String("\(error)".prefix { $0 != "(" }), default: 0] += 1
            }
        }
        print("copies, \(dataFirst ? "data" : "log") first: \(opened) opened, refused \(refused)")
        stop()
        for writer in writers { #expect(writer.wait() == 0, "\(writer.errors)") }
    }

    @Test("no process writes to a file that replaced its own") func replaced() throws {
        let writer = try StoreWorkerProcess(path, ["increment", "1", "times=5", "stay"], name: "writer")
        try writer.waitFor("s")
        let store = try Store.open(path: path, options: options())
        try store.writeCopy(to: path + "-other")
        let pinned = try total(store)
        #expect(rename(path + "-other", path) == 0)
        #expect(throws: StorageError.stale(path: path)) { try store.beginWrite() }
        #expect(try total(store) == pinned)
        stop()
        _ = writer.wait()
        do { try store.close() } catch {}
        let again = try Store.open(path: path, options: options())
        #expect(try total(again) == 5)
        try again.checkInvariants()
        try again.close()
    }

    private func removed() throws -> Bool {
        do throws(StorageError) { return try Store.removeFiles(path: path) } catch {
            if case .inUse = error { return false }
            throw error
        }
    }

    @Test("a store that any process has open is not deleted; a dead process's leftovers are no obstacle")
    func deleted() throws {
        let writer = try StoreWorkerProcess(path, ["increment", "1", "times=5", "stay"], name: "writer")
        try writer.waitFor("s")
        #expect(throws: StorageError.inUse(path: path)) { try Store.removeFiles(path: path) }
        writer.end(SIGKILL)
        #expect(try POSIXFileSystem().status(path + ".lock") != nil)
        #expect(try Store.removeFiles(path: path))
        for ending in ["", ".log", ".lock"] { #expect(try POSIXFileSystem().status(path + ending) == nil) }
        // A deletion that races with an open either removes all files or none.
        for round in 0..<20 {
            let opener = try StoreWorkerProcess(path, ["once", "1"], name: "opener\(round)")
            var isRemoved = false
            while opener.isRunning { if try removed() { isRemoved = true } }
            #expect(opener.status == 0 || opener.status == 1, "\(opener.errors)")
            if !isRemoved && opener.status == 0 {
                let store = try Store.open(path: path, options: options())
                #expect(try total(store) == 1)
                try store.close()
            }
            _ = try Store.removeFiles(path: path)
        }
    }
}
