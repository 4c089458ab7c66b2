import Platform
import Testing

@testable import Files

@Suite struct DirectoryLockTests {
    @Test("a released lock is free, even while a forked child has its file open")
    func givenBack() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/lock"
        var lock = try taken(path)
        let copy = try #require(duplicate(of: path))
        defer { close(copy) }
        #expect(try taken(path) == nil)
        #expect(lock != nil)
        lock = nil
        #expect(try taken(path) != nil)
    }

    private func taken(_ path: String) throws -> DirectoryLock? {
        guard case .taken(let lock) = try DirectoryLock.attempt(path) else { return nil }
        return lock
    }

    /// A second descriptor of the locked open file, as a forked child has it.
    private func duplicate(of path: String) -> Int32? {
        var wanted = stat()
        guard stat(path, &wanted) == 0 else { return nil }
        for descriptor in Int32(3)..<1024 {
            var found = stat()
            if fstat(descriptor, &found) == 0, found.st_ino == wanted.st_ino, found.st_dev == wanted.st_dev {
                return dup(descriptor)
            }
        }
        return nil
    }
}
