import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Processes of several users on one store: a user who may open the data file may use it, and no other user reads a row
/// of it.
@Suite(.serialized, .enabled(if: StoreWorkerProcess.executable != nil && POSIXFileSystem().isShared))
struct OtherUserTests {
    private static let user: UInt32 = 1000
    private static let secondUser: UInt32 = 65534

    /// A directory for the store inside one that every user may search; workers write their output beside it.
    private final class Place {
        let directory: TemporaryDirectory
        let folder: String
        var store: String { folder + "/store" }
        var output: String { directory.path + "/output" }

        init(mode: mode_t, owner: UInt32 = 0) throws {
            directory = try TemporaryDirectory()
            folder = directory.path + "/folder"
            chmod(directory.path, 0o755)
            mkdir(folder, 0o755)
            chmod(folder, mode)
            try #require(chown(folder, owner, owner) == 0)
        }

        deinit {
            chmod(folder, 0o700)
            for suffix in ["", ".log", ".lock"] { unlink(store + suffix) }
            rmdir(folder)
        }

        func worker(_ words: [String], user: UInt32?) throws -> StoreWorkerProcess {
            try StoreWorkerProcess(store, words, name: "u\(user ?? 0)", user: user, output: output)
        }

        /// Runs a worker to its end, and returns the result.
        func run(_ words: [String], user: UInt32?) throws -> (status: Int32, acknowledged: Int, errors: String) {
            let worker = try worker(words, user: user)
            try worker.waitForEnd(seconds: 20)
            return (worker.status ?? -1, worker.count("a"), worker.errors)
        }

        var names: [String] {
            ["", ".log", ".lock"].map { store + $0 }.filter { access($0, F_OK) == 0 }
        }
    }

    /// nil, with the reason, if other users cannot be used here.
    private static func place(mode: mode_t, owner: UInt32 = 0) throws -> Place? {
        guard geteuid() == 0 else {
            print("other users were not tried: only root may become one")
            return nil
        }
        let executable = StoreWorkerProcess.executable ?? ""
        let test = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "test", "-x", executable]
        guard MountedDisk.run(test) == 0 else {
            print("other users were not tried: setpriv is missing, or they may not run \(executable)")
            return nil
        }
        return try Place(mode: mode, owner: owner)
    }

    private static func rights(_ mode: UInt32, _ user: UInt32) -> FileRightsTests.Rights {
        FileRightsTests.Rights(mode: mode, user: user, group: user)
    }

    @Test(
        "files that root creates beside a user's store belong to the user, who can go on",
        arguments: [0o600, 0o640] as [mode_t])
    func rootFirst(mode: mode_t) throws {
        guard let place = try Self.place(mode: 0o755, owner: Self.user) else { return }
        #expect(try place.run(["increment", "1", "times=3"], user: Self.user).acknowledged == 3)
        chmod(place.store, mode)
        let root = try place.worker(["increment", "2", "times=5", "stay"], user: nil)
        try root.waitFor("s")
        #expect(place.names.count == 3)
        for name in place.names { #expect(try FileRightsTests.Rights(name) == Self.rights(UInt32(mode), Self.user)) }
        // The user commits beside root's process, and after its death, when the data file's owner replays the log.
        #expect(try place.run(["increment", "1", "times=4"], user: Self.user).acknowledged == 7)
        root.end(SIGKILL)
        let last = try place.run(["increment", "1", "times=2"], user: Self.user)
        #expect(last.status == 0 && last.acknowledged == 9, "\(last.errors)")
        // A third user is refused, and the attempt leaves no file.
        let before = place.names
        let stranger = try place.run(["once", "3"], user: Self.secondUser)
        #expect(stranger.status == 1 && stranger.errors.contains("Permission denied"), "\(stranger.errors)")
        #expect(stranger.errors.contains(place.store) && place.names == before)
        let store = try Store.open(path: place.store)
        let view = try store.snapshot().view
        for (row, count) in [(0, 14), (1, 9), (2, 5)] as [(Int64, Int64)] {
            #expect(try view.integer(try #require(try view.locate(0, RowKey(row))), 0) == count)
        }
        try store.close()
        #expect(try FileRightsTests.Rights(place.store) == Self.rights(UInt32(mode), Self.user))
    }

    @Test("in a directory without write permission, a store is usable if no file must be created") func passedOnly()
        throws
    {
        guard let place = try Self.place(mode: 0o711) else { return }
        #expect(try place.run(["increment", "1", "times=3"], user: nil).acknowledged == 3)
        chmod(place.store, 0o600)
        try #require(chown(place.store, Self.user, Self.user) == 0)
        // Neither the log nor the lock file can be created there: an error names the place.
        let refused = try place.run(["once", "1"], user: Self.user)
        #expect(refused.status == 1 && refused.acknowledged == 0, "\(refused.errors)")
        #expect(refused.errors.contains("Permission denied") && refused.errors.contains(place.store))
        #expect(place.names == [place.store])
        // If another user's process has made both files, the user's process can commit beside it.
        let root = try place.worker(["increment", "2", "times=4", "stay", "short"], user: nil)
        try root.waitFor("s")
        let beside = try StoreWorkerProcess(
            place.store, ["increment", "1", "times=5", "short"], name: "beside", user: Self.user, output: place.output)
        try beside.waitForEnd(seconds: 20)
        #expect(beside.status == 0 && beside.count("a") == 5, "\(beside.errors)")
        close(open(place.store + ".stop", O_CREAT | O_WRONLY, 0o644))
        #expect(root.wait() == 0, "\(root.errors)")
        unlink(place.store + ".stop")
        #expect(place.names == [place.store])
        let store = try Store.open(path: place.store)
        try store.checkInvariants()
        let view = try store.snapshot().view
        #expect(try view.integer(try #require(try view.locate(0, RowKey(0))), 0) == 12)
        try store.close()
        #expect(try FileRightsTests.Rights(place.store) == Self.rights(0o600, Self.user))
    }

    @Test("in a directory that can be written and not read, a store is made, used and closed") func unreadable() throws
    {
        guard let place = try Self.place(mode: 0o333, owner: Self.user) else { return }
        let made = try place.run(["increment", "1", "times=6"], user: Self.user)
        #expect(made.status == 0 && made.acknowledged == 6, "\(made.errors)")
        #expect(place.names == [place.store])
    }

    /// After a process was killed, no other user could open the store: in a directory with the sticky bit a file is
    /// removed by its owner alone.
    @Test("in a sticky directory one user goes on after another user's process was killed") func sticky() throws {
        guard let place = try Self.place(mode: 0o1777) else { return }
        // The processes of both users may write the store.
        #expect(try place.run(["increment", "1", "times=3"], user: Self.user).acknowledged == 3)
        chmod(place.store, 0o666)
        let killed = try place.worker(["increment", "2", "times=6", "stay", "short"], user: Self.secondUser)
        try killed.waitFor("s")
        #expect(place.names.count == 3)
        killed.end(SIGKILL)
        let owner = try place.run(["increment", "1", "times=4", "launch"], user: Self.user)
        #expect(owner.status == 0 && owner.acknowledged == 7, "\(owner.errors)")
        let other = try place.run(["increment", "2", "times=5", "launch"], user: Self.secondUser)
        #expect(other.status == 0 && other.acknowledged == 11, "\(other.errors)")
        let store = try Store.open(path: place.store)
        try store.checkInvariants()
        let view = try store.snapshot().view
        for (row, count) in [(0, 18), (1, 7), (2, 11)] as [(Int64, Int64)] {
            #expect(try view.integer(try #require(try view.locate(0, RowKey(row))), 0) == count)
        }
        try store.close()
    }
}
