import Foundation
import StrataFiles
import Testing

@Suite struct LockTests {
    @Test("a closed file has no lock, although a map keeps it open")
    func closedWithMap() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lock-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let fileSystem = POSIXFileSystem()
        let first = try fileSystem.open(path, .createNew)
        try first.preallocate(to: 4096)
        #expect(try first.tryLock(byte: 7, exclusive: true))
        #expect(try first.tryLock(byte: 9, exclusive: false))
        let map = try first.map(reserve: 4096)
        let second = try fileSystem.open(path, .write)
        #expect(try !second.tryLock(byte: 7, exclusive: true))
        first.close()
        #expect(try second.tryLock(byte: 7, exclusive: true))
        #expect(try second.tryLock(byte: 9, exclusive: true))
        withExtendedLifetime(map) {}
    }
}
