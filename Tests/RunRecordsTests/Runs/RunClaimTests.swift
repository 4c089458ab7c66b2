import Files
import FilesTests
import Platform
import Testing

@testable import RunRecords

@Suite struct RunClaimTests {
    private let temporary: TemporaryDirectory
    private var path: String { temporary.path + "/run" }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    /// Every file below a directory with its text, links with their targets.
    private func content(_ directory: String) throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try FileTree.names(in: directory) {
            let child = directory + "/" + name
            switch FileTree.kind(child) {
            case .directory?:
                found[name] = "directory"
                for (inner, text) in try content(child) { found[name + "/" + inner] = text }
            case .file?: found[name] = try FileTree.readText(child)
            default: found[name] = "link"
            }
        }
        return found
    }

    @Test("a missing or empty directory is created, marked and locked")
    func makes() throws {
        for isThere in [false, true] {
            let path = self.path + "\(isThere)"
            if isThere { try FileTree.createDirectory(path) }
            let claim = try RunClaim.take(path, id: "r", options: ["--seed": ["7"]])
            let marker = try DirectoryMarker.read(from: path)
            #expect(marker.runID == "r" && marker.options == ["--seed": ["7"]])
            #expect(marker.entries.contains("run.json"))
            #expect(FileTree.isDirectory(claim.directory.workDirectory))
            let scratch = String(claim.directory.workDirectory.dropFirst(path.count + 1).dropLast("/files".count))
            #expect(marker.entries.contains(scratch), "\(scratch) is listed")
            try claim.end()
            #expect(FileTree.kind(path + "/work") == nil)
            #expect(try DirectoryMarker.read(from: path).entries.contains { $0.hasPrefix("work/") } == false)
        }
    }

    @Test("a non-empty directory without a marker is refused, and unchanged")
    func foreign() throws {
        for name in ["notes.txt", "run.json", "work", "report.html", ".hidden"] {
            let path = self.path + name
            try FileTree.createDirectory(path)
            if name == "work" {
                try FileTree.createDirectory(path + "/" + "work/assay-scratch-1")
                try FileTree.writeText(path + "/" + "work/assay-scratch-1/mine", "mine")
            } else {
                try FileTree.writeText(path + "/" + name, "{}")
            }
            let before = try content(path)
            let error = try #require(throws: DirectoryClaimError.self) { try RunClaim.take(path, id: "r") }
            #expect(error.description.contains("Name another --out") && error.description.contains(name))
            #expect(throws: DirectoryClaimError.self) { try RunClaim.resume(path) }
            #expect(throws: DirectoryClaimError.self) { try RunClaim.scratch(for: path) }
            #expect(throws: DirectoryClaimError.self) { try RunClaim.write("x", to: "report.html", in: path) }
            #expect(try content(path) == before)
            #expect(FileTree.kind(path + ".1") == nil)
        }
    }

    @Test("an existing run is moved aside with all its files")
    func setsAside() throws {
        try RunClaim.take(path, id: "first").end()
        try FileTree.createDirectory(path + "/work")
        try FileTree.writeText(path + "/" + "work/mine", "mine")
        var told: [String] = []
        let claim = try RunClaim.take(path, id: "second") { told.append($0) }
        #expect(told.count == 1 && told[0].hasSuffix("/run.1"))
        #expect(try DirectoryMarker.read(from: path + ".1").runID == "first")
        #expect(try FileTree.readText(path + ".1" + "/" + "work/mine") == "mine")
        #expect(try DirectoryMarker.read(from: path).runID == "second")
        try claim.end()
    }

    @Test("a directory in use is refused with the owner's process id, and free after the owner's end")
    func inUse() throws {
        do {
            let claim = try RunClaim.take(path, id: "r")
            for attempt in [{ _ = try RunClaim.take(path, id: "s") }, { _ = try RunClaim.resume(path) }] {
                let error = try #require(throws: DirectoryClaimError.self) { try attempt() }
                #expect(error.isInUse && error.description.contains("process \(getpid())"), "\(error)")
            }
            #expect(FileTree.kind(path + ".1") == nil)
            withExtendedLifetime(claim) {}
        }
        #expect(throws: Never.self) { try RunClaim.resume(path) }
    }

    @Test("of several concurrent claims of a new directory exactly one succeeds")
    func race() async throws {
        for round in 0..<20 {
            let path = self.path + "\(round)"
            let winners = await withTaskGroup(of: RunClaim?.self) { group in
                for number in 0..<8 { group.addTask { try? RunClaim.take(path, id: "\(number)") } }
                return await group.reduce(into: [RunClaim]()) { if let claim = $1 { $0.append(claim) } }
            }
            #expect(winners.count == 1)
            #expect(try DirectoryMarker.read(from: path).runID == winners.first?.id)
        }
    }

    @Test("taken ids get a number, and each directory has its own")
    func ids() throws {
        let claims = try (0..<3).map { _ in try RunClaim.make(below: temporary.path, id: "now") }
        #expect(claims.map(\.id) == ["now", "now-2", "now-3"])
        for claim in claims {
            #expect(claim.directory.path == temporary.path + "/" + claim.id)
            #expect(try DirectoryMarker.read(from: claim.directory.path).runID == claim.id)
        }
    }

    @Test("the next run removes a killed run's files, and keeps a user's")
    func abandoned() throws {
        let left: String
        do {
            let claim = try RunClaim.take(path, id: "r")
            left = claim.directory.workDirectory
            try FileTree.writeText(left + "/database", "old")
        }
        let users = path + "/" + "work/assay-scratch-users"
        try FileTree.createDirectory(users)
        try FileTree.writeText(users + "/mine", "mine")
        try FileTree.writeText(path + "/" + "work/mine", "mine")
        let (claim, _) = try RunClaim.resume(path)
        #expect(FileTree.kind(left) == nil)
        try claim.end()
        #expect(try FileTree.names(in: path + "/work") == ["assay-scratch-users", "mine"])
        #expect(try FileTree.readText(users + "/mine") == "mine")
    }

    @Test("a user's file in a scratch directory stays, and the directory with it")
    func userInScratch() throws {
        let claim = try RunClaim.take(path, id: "r")
        let scratch = String(claim.directory.workDirectory.dropLast("/files".count))
        try FileTree.writeText(scratch + "/mine", "mine")
        try claim.end()
        #expect(try FileTree.names(in: scratch) == ["mine"])
    }

    @Test("a symbolic link in place of `work` or its entries is refused and not followed")
    func links() throws {
        for name in ["work", "results.jsonl", "trials"] {
            let path = self.path + name
            let elsewhere = temporary.path + "/elsewhere" + name
            try RunClaim.take(path, id: "r").end()
            try FileTree.createDirectory(elsewhere)
            try FileTree.writeText(elsewhere + "/mine", "mine")
            try #require(symlink(elsewhere, path + "/" + name) == 0)
            #expect(throws: DirectoryClaimError.self) { try RunClaim.take(path, id: "s") }
            #expect(throws: DirectoryClaimError.self) { try RunClaim.resume(path) }
            #expect(throws: DirectoryClaimError.self) { try RunClaim.scratch(for: path) }
            #expect(try content(elsewhere) == ["mine": "mine"])
        }
        try RunClaim.take(path, id: "r").end()
        try FileTree.writeText(temporary.path + "/mine", "mine")
        try #require(symlink(temporary.path + "/mine", path + "/report.html") == 0)
        #expect(throws: DirectoryClaimError.self) { try RunClaim.write("x", to: "report.html", in: path) }
        #expect(try FileTree.readText(temporary.path + "/mine") == "mine")
    }

    @Test("two replays have their own scratch directories, and the next run removes a killed one's")
    func replays() throws {
        let claim = try RunClaim.take(path, id: "r")
        var left = ""
        do {
            let first = try RunClaim.scratch(for: path)
            let second = try RunClaim.scratch(for: path)
            #expect(first.files != second.files && first.files != claim.directory.workDirectory)
            try RunClaim.giveUp(first, of: path)
            #expect(FileTree.kind(first.path) == nil && FileTree.isDirectory(second.files))
            left = second.path
        }
        #expect(FileTree.isDirectory(left), "it ended without a word")
        let third = try RunClaim.scratch(for: path)
        #expect(FileTree.kind(left) == nil)
        #expect(FileTree.isDirectory(claim.directory.workDirectory), "the run's own has an owner")
        try RunClaim.giveUp(third, of: path)
    }

    @Test("a report file is written if new or generated, and a user's is left alone")
    func reports() throws {
        try RunClaim.take(path, id: "r").end()
        try RunClaim.write("1", to: "report.html", in: path)
        try RunClaim.write("2", to: "report.html", in: path)
        try RunClaim.write("3", to: "new.csv", in: path)
        try RunClaim.write("4", to: "new.csv", in: path)
        #expect(try FileTree.readText(path + "/report.html") == "2")
        #expect(try FileTree.readText(path + "/new.csv") == "4")
        try FileTree.writeText(path + "/notes.csv", "mine")
        #expect(throws: DirectoryClaimError.self) { try RunClaim.write("5", to: "notes.csv", in: path) }
        #expect(try FileTree.readText(path + "/notes.csv") == "mine")
    }
}
