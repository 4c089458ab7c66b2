import StrataFiles
import Testing

@testable import StrataStorage

/// Growing and truncating the data file, without the contents of pages.
@Suite struct FileRoomTests {
    /// A file that grows up to a limit, and then fails.
    private final class LimitedFile: FileLayer, @unchecked Sendable {  // one test's, on its thread
        let base: any File
        /// The limit of its size.
        var pages = 1 << 30
        var refusal: Int32 = 28
        var isCutRefused = false
        private(set) var asked: [Int] = []

        init(_ base: any File) { self.base = base }

        func preallocate(to size: Int64) throws(FileError) {
            asked.append(Int(size) / Format.pageSize)
            if Int(size) > pages * Format.pageSize {
                throw FileError(.preallocate, path: path, errno: refusal)
            }
            try base.preallocate(to: size)
        }
        func truncate(to size: Int64) throws(FileError) {
            if isCutRefused { throw FileError(.truncate, path: path, errno: 5) }
            try base.truncate(to: size)
        }
    }

    private let file: LimitedFile
    private let map: PageMap

    init() throws {
        let disk = MemoryFileSystem(capacity: 1 << 26)
        file = LimitedFile(try disk.open("data", .createNew))
        try file.truncate(to: Int64(8 * Format.pageSize))
        map = try PageMap(file, reserve: 1 << 22, fileSystem: disk, checks: .ofTrees, seed: NodeSeed(RandomID(1, 2)))
    }

    /// - Parameter growth: pages at a time.
    private func room(growth: Int) -> FileRoom { FileRoom(file, .fixed(growth * Format.pageSize), map, capacity: 8) }

    private var limit: Int { map.limit.pages.load(ordering: .acquiring) }
    private func size() throws -> Int { Int(try file.size()) / Format.pageSize }

    @Test("a file grows if a page past its end is needed, by the policy's step or more") func growth() throws {
        var room = room(growth: 16)
        #expect(limit == 8)
        try room.ensure(6, beyond: 2, isOptional: false)
        #expect(file.asked == [] && room.capacity == 8)
        try room.ensure(6, beyond: 3, isOptional: false)
        #expect(file.asked == [24])
        #expect(try room.capacity == 24 && size() == 24 && limit == 24)
        try room.ensure(90, beyond: 8, isOptional: true)
        #expect(try room.capacity == 98 && size() == 98 && limit == 98)
    }

    @Test("if the step does not fit, the file grows by what is needed; without the reserve only if that is optional")
    func smallerSteps() throws {
        var room = room(growth: 64)
        file.pages = 20
        try room.ensure(12, beyond: 8, isOptional: false)
        #expect(file.asked == [72, 20] && room.capacity == 20)
        #expect(throws: StorageError.noSpace(FileError(.preallocate, path: "data", errno: 28))) {
            try room.ensure(19, beyond: 8, isOptional: false)
        }
        #expect(try room.capacity == 20 && size() == 20 && limit == 20)
        // The existing pages suffice for a caller that can do without the reserve.
        try room.ensure(19, beyond: 8, isOptional: true)
        #expect(file.asked.suffix(2) == [84, 27] && room.capacity == 20)
        file.pages = 22
        try room.ensure(22, beyond: 8, isOptional: true)
        #expect(file.asked.suffix(3) == [84, 30, 22] && room.capacity == 22)
    }

    @Test("any other error is thrown at once, and changes nothing") func otherErrors() throws {
        var room = room(growth: 64)
        file.pages = 0
        file.refusal = 5
        #expect(throws: StorageError.file(FileError(.preallocate, path: "data", errno: 5))) {
            try room.ensure(9, beyond: 1, isOptional: true)
        }
        #expect(file.asked == [72])
        #expect(try room.capacity == 8 && size() == 8 && limit == 8)
    }

    @Test("the needed pages are mapped, even if the map has no room for the whole step") func addressSpace() throws {
        let most = map.capacity
        #expect(most < 1 << 20)
        var room = room(growth: 1 << 20)
        try room.ensure(9, beyond: 1, isOptional: false)
        #expect(room.capacity >= 10 && room.capacity <= map.capacity && limit == room.capacity)
        #expect(room.canMap(room.capacity) && !room.canMap(1 << 31))
    }

    @Test("a file is truncated if worthwhile, in bounded steps, and unchanged if truncation fails") func cut()
        throws
    {
        var room = room(growth: 1)
        try room.ensure(100, beyond: 0, isOptional: false)
        try room.cut(to: 90, slack: 10, atMost: .max)
        #expect(room.capacity == 100)
        try room.cut(to: 89, slack: 10, atMost: .max)
        #expect(try room.capacity == 89 && size() == 89 && limit == 89)
        try room.cut(to: 10, slack: 10, atMost: 30)
        #expect(room.capacity == 59 && limit == 59)
        file.isCutRefused = true
        #expect(throws: StorageError.self) { try room.cut(to: 10, slack: 0, atMost: .max) }
        #expect(try room.capacity == 59 && size() == 59 && limit == 59)
        // The previous owner of writing left the file shorter, or longer.
        room.follow(40)
        #expect(room.capacity == 40 && limit == 40)
        room.follow(70)
        #expect(room.capacity == 70 && limit == 70)
    }
}
