import Files
import Platform
import Testing

@testable import Harness

@Suite struct RevisionBuildsTests {
    private let test: TestRepository

    init() throws {
        test = try TestRepository(try TestDirectory())
    }

    /// The text of the error that `body` throws; empty if it throws none.
    private func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("a revision is built once, completely, at its own path, and the repository is unchanged")
    func once() throws {
        let first = try test.commit("First", program: "one")
        let second = try test.commit("Second", program: "two")
        let builds = try test.revisionBuilds()
        var announced: [String] = []
        let one = try builds.program(of: first) { announced.append($0) }
        let two = try builds.program(of: second) { announced.append($0) }
        #expect(try FileTree.readText(one) == "one" && FileTree.readText(two) == "two")
        #expect(one.contains(first.commit) && one.count == two.count, "no side has the longer path")
        #expect(FileTree.exists(one.dropLast("assay".count) + "libAssayPreload.so"))
        #expect(announced.count == 2 && announced[0].contains("HEAD"), "\(announced)")
        #expect(try test.callCount() == 4, "a program and a library each")
        #expect(try FileTree.readText(test.calls).contains("-c release --traits SQLite --product assay"))
        // The kept build is used by another process, and under another name of the revision.
        let again = try test.revisionBuilds()
        let named = try test.repository().revision("HEAD~1")
        #expect(try again.program(of: named) { announced.append($0) } == one)
        #expect(try test.callCount() == 4 && announced.count == 2)
        #expect(access(one, X_OK) == 0)
        #expect(!FileTree.exists(test.builds + "/new"))
        try test.git(["-C", test.path, "diff", "--quiet", "HEAD"])
        #expect(try FileTree.names(in: test.path + "/.git").contains("worktrees") == false)
    }

    @Test("another compiler makes another build")
    func otherCompiler() throws {
        let revision = try test.commit("First", program: "one")
        let path = try test.revisionBuilds().program(of: revision) { _ in }
        let text = try FileTree.readText(test.compiler)
        try FileTree.writeText(test.compiler, text.replacing("stand-in 1", with: "stand-in 2"))
        #expect(try test.revisionBuilds().program(of: revision) { _ in } != path)
        #expect(try test.callCount() == 4)
    }

    @Test("a broken revision is named with the compiler's message, nothing of it is kept, and the next one builds")
    func broken() throws {
        let broken = try test.commit("Break it", program: "one", also: ["broken": ""])
        try FileTree.remove(test.path + "/broken")
        let lacking = try test.commit("Lack it", program: "two", also: ["lacks": ""])
        try FileTree.remove(test.path + "/lacks")
        let whole = try test.commit("Mend it", program: "three")
        let builds = try test.revisionBuilds()
        #expect(try FileTree.readText(try builds.program(of: whole) { _ in }) == "three")
        let text = failure { _ = try builds.program(of: broken) { _ in } }
        #expect(text.contains("Break it) does not build: one.swift:3:1: error: no such thing"), "\(text)")
        let log = try #require(text.split(separator: " ").last.map(String.init))
        #expect(try FileTree.readText(log).contains("no such thing"))
        // The previous build's library is not taken for this one's.
        #expect(failure { _ = try builds.program(of: lacking) { _ in } }.contains("made no libAssayPreload.so"))
        let names = try FileTree.names(in: test.builds).filter { $0.count > 40 && !$0.hasSuffix(".log") }
        #expect(names.count == 1, "\(names)")
        // A broken revision is tried again each time that it is requested.
        #expect(failure { _ = try builds.program(of: broken) { _ in } }.contains("no such thing"))
        #expect(FileTree.exists(log))
    }

    @Test("a full disk and a killed compiler are no fault of the revision")
    func machine() throws {
        for (file, words) in [("full", "disk is full"), ("killed", "ended by signal 9")] {
            let revision = try test.commit("Innocent", program: "one", also: [file: ""])
            try FileTree.remove(test.path + "/" + file)
            let builds = try test.revisionBuilds()
            let error = #expect(throws: HarnessError.self) { _ = try builds.program(of: revision) { _ in } }
            #expect(error?.message.contains(words) == true, "\(error.debugDescription)")
        }
    }

    @Test("a revision without the program is refused before anything is compiled")
    func withoutProgram() throws {
        try test.write("Package.swift", "// nothing")
        let revision = try test.commit("Early", program: "one")
        let text = failure { _ = try test.revisionBuilds().program(of: revision) { _ in } }
        #expect(text.contains("it has no program assay"), "\(text)")
        #expect(try test.callCount() == 0)
    }

    @Test("an unknown commit, a missing checkout or compiler and a foreign directory are refused with a remedy")
    func refused() throws {
        try test.commit("First", program: "one")
        let repository = try test.repository()
        for name in ["nowhere", "", "HEAD~9", "--all", "HEAD:program", "main..HEAD"] {
            #expect(failure { _ = try repository.revision(name) }.contains("names no commit"), "\(name)")
        }
        #expect(try repository.revision("main").subject == "First")
        let elsewhere = failure { _ = try Repository(around: test.directory.path, scratch: test.directory.path) }
        #expect(elsewhere.contains("--repository DIR"), "\(elsewhere)")
        #expect(failure { _ = try Repository(around: "/no/such", scratch: test.directory.path) }.contains("/no/such"))
        let missing = failure {
            _ = try RevisionBuilds(
                repository, directory: test.builds, scratch: test.directory.path, compiler: "/no/such/swift")
        }
        #expect(missing.contains("variable SWIFT"), "\(missing)")
        let foreign = test.directory.path + "/foreign"
        try FileTree.createDirectory(foreign)
        try FileTree.writeText(foreign + "/letter", "dear")
        let refused = failure {
            _ = try RevisionBuilds(
                repository, directory: foreign, scratch: test.directory.path, compiler: test.compiler)
        }
        #expect(refused.contains("--builds"), "\(refused)")
        #expect(try FileTree.names(in: foreign) == ["letter"])
    }

    @Test("while another process builds in the directory, building is refused; kept builds can be used")
    func locked() throws {
        let first = try test.commit("First", program: "one")
        let second = try test.commit("Second", program: "two")
        let builds = try test.revisionBuilds()
        let kept = try builds.program(of: first) { _ in }
        guard case .taken(let lock) = try DirectoryLock.attempt(test.builds + "/.assay-lock") else {
            Issue.record("the lock is free")
            return
        }
        #expect(failure { _ = try builds.program(of: second) { _ in } }.contains("another process builds"))
        #expect(try builds.program(of: first) { _ in } == kept)
        withExtendedLifetime(lock) {}
    }

    @Test("a line of first parents, oldest first; other revisions are refused")
    func line() throws {
        let base = try test.commit("Base", program: "0")
        try test.git(["-C", test.path, "checkout", "--quiet", "-b", "side"])
        let side = try test.commit("Side", program: "0", also: ["side": "x"])
        try test.git(["-C", test.path, "checkout", "--quiet", "main"])
        let first = try test.commit("First", program: "1")
        try test.git(["-C", test.path, "merge", "--quiet", "--no-ff", "-m", "Merge side", "side"])
        let last = try test.commit("Last", program: "2")
        let repository = try test.repository()
        #expect(try repository.line(from: base, to: last).map(\.subject) == ["First", "Merge side", "Last"])
        #expect(try repository.line(from: first, to: last).map(\.subject) == ["Merge side", "Last"])
        #expect(try repository.line(from: base, to: last).last?.commit == last.commit)
        #expect(failure { _ = try repository.line(from: side, to: last) }.contains("first parents"))
        #expect(failure { _ = try repository.line(from: last, to: base) }.contains("ancestor"))
        #expect(failure { _ = try repository.line(from: last, to: last) }.contains("ancestor"))
    }

    @Test("a build from a detached working tree, and from a repository that is itself a worktree")
    func worktree() throws {
        let first = try test.commit("First", program: "one")
        let other = test.directory.path + "/other"
        try test.git(["-C", test.path, "worktree", "add", "--quiet", "--detach", other, first.commit])
        let repository = try Repository(around: other + "/Tools", scratch: test.directory.path)
        let builds = try RevisionBuilds(
            repository, directory: nil, scratch: test.directory.path, compiler: test.compiler)
        let path = try builds.program(of: try repository.revision("main")) { _ in }
        #expect(try FileTree.readText(path) == "one")
        #expect(path.hasPrefix(repository.path + "/.build/revisions/"))
    }
}
