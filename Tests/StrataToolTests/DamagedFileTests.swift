import StrataFiles
import StrataStorage
import Testing

@testable import StrataStorageTests

/// Files with zeroed pages, through the tool.
@Suite struct DamagedFileTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/store" }

    init() throws {
        directory = try TemporaryDirectory()
        try SampleStore.make(directory.path + "/store")
    }

    private func run(_ arguments: String...) throws -> StrataProcess {
        try StrataProcess.run(arguments, in: directory.path)
    }

    private func zero(_ pages: [Int]) throws {
        var bytes = try StrataProcess.bytes(path)
        for page in pages {
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: repeatElement(0, count: 4096))
        }
        try StrataProcess.write(bytes, to: path)
    }

    @Test("check finds each zeroed page in use, and salvage reports the loss")
    func everyPage() throws {
        let sound = try StrataProcess.bytes(path)
        let rows = try run("dump", path).output.split(separator: "\n")
        var damaged = 0
        for page in 0..<sound.count / 4096 {
            try StrataProcess.write(sound, to: path)
            try zero([page])
            let check = try run("check", path)
            if check.status == 0 { continue }
            damaged += 1
            let isNamed = check.output.contains("page \(page), offset ") || check.output.contains("pages ")
            #expect(check.status == 2 && isNamed, "\(page): \(check)")
            let new = directory.path + "/new\(page)"
            let salvage = try run("salvage", path, "--to", new, "--json")
            #expect(salvage.status == 0 || salvage.status == 2, "page \(page): \(salvage)")
            #expect(try run("check", new).status == 0, "page \(page)")
            if salvage.status == 0 {
                #expect(try run("dump", new).output.split(separator: "\n") == rows, "page \(page)")
            } else {
                #expect(salvage.output.hasPrefix(#"{"whole":false,"#), "page \(page)")
            }
        }
        #expect(damaged > 5)
    }

    @Test("commands that need a sound file report the damage and the remedy, and end with 2")
    func refusedDamage() throws {
        try zero([0, 1])
        for command in ["info", "dump", "check"] {
            let end = try run(command, path)
            #expect(end.status == 2, "\(command): \(end)")
            #expect(end.error.isEmpty == (command == "check"))
        }
        let salvage = try run("salvage", path, "--to", path + ".new")
        #expect(salvage.output.contains("no header verifies") && salvage.output.contains("600 rows, nothing is lost"))
        #expect(salvage.status == 0)
        let again = try run("salvage", path, "--to", path + ".new")
        #expect(again.status == 1 && again.error.contains("is there already"))
    }

    /// A file cut to 5 000 bytes was once reported to have lost "0 rows and 0 values", though a salvage that found
    /// nothing cannot know.
    @Test("a salvage without a root reports that the loss is unknown")
    func withoutRoot() throws {
        try StrataProcess.write(Array(try StrataProcess.bytes(path).prefix(5_000)), to: path)
        let end = try run("salvage", path, "--to", path + ".new")
        #expect(end.status == 2 && end.output.contains("0 rows, how many are lost is not known"), "\(end)")
        #expect(!end.output.contains("0 values lost"))
    }

    @Test("an unreadable class leaves no empty file")
    func noEmptyFile() throws {
        let sound = try StrataProcess.bytes(path)
        var refused = 0
        for page in 2..<sound.count / 4096 {
            try StrataProcess.write(sound, to: path)
            try zero([page])
            let out = directory.path + "/out\(page)"
            let end = try run("dump", path, "--format", "csv", "--out", out)
            if end.status == 0 { continue }
            refused += 1
            for name in ["Person", "Dog"] where try POSIXFileSystem().status("\(out)/\(name).csv") != nil {
                #expect(try !StrataProcess.bytes("\(out)/\(name).csv").isEmpty, "page \(page), \(name)")
            }
        }
        #expect(refused > 3)
    }

    @Test("a lost header slot is a finding of the check")
    func oneHeader() throws {
        try zero([1])
        let end = try run("check", path)
        #expect(end.output.contains("damaged, 1 finding. "), "\(end)")
        #expect(end.status == 2 && end.output.contains("page 1, offset 0, header: no valid header"))
    }
}
