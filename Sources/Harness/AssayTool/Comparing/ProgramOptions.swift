import Commands
import Harness
import RunRecords

/// Thrown for a revision that builds, but whose program cannot be compared with others.
struct UnusableRevision: Error {
    var message: String
}

/// The programs that a command line names: by the path of a binary, or by a revision that is built from git.
struct ProgramOptions {
    private let arguments: Arguments
    private let scratch: String
    /// Lazy, since a comparison of two binaries needs neither git nor a compiler.
    private var source: (repository: Repository, builds: RevisionBuilds)?

    static let specifications = [
        OptionSpecification("--repository", value: "DIR", "the checkout that revisions come from (this one)"),
        OptionSpecification("--builds", value: "DIR", "the directory of builds of revisions (.build/revisions)"),
        OptionSpecification("--allow-zoo", "take builds with planted bugs, too"),
        OptionSpecification("--allow-debug", "take debug builds, too"),
    ]

    private let repository: String
    private let builds: String?

    /// - Parameters:
    ///   - scratch: a directory for what programs print.
    ///   - repository: replaces `--repository`, as `builds` replaces `--builds`.
    init(_ arguments: Arguments, scratch: String, repository: String? = nil, builds: String? = nil) {
        self.arguments = arguments
        self.scratch = scratch
        self.repository = repository ?? arguments.value("--repository") ?? "."
        self.builds = builds ?? arguments.value("--builds").map(trimmed)
    }

    /// The paths of the repository of the revisions and of the directory of their builds, both absolute.
    mutating func places() throws -> (repository: String, builds: String) {
        let found = try sources()
        return (found.repository.path, found.builds.directory)
    }

    private func usage(_ message: String) -> UsageError { UsageError(message, command: arguments.command) }

    /// Both sides: the programs of `--a` or `--a-ref`, and of `--b` or `--b-ref`. Both are checked before anything is
    /// built.
    mutating func sides() throws -> (a: DescribedProgram, b: DescribedProgram) {
        var revisions: [String: Revision] = [:]
        for option in ["--a", "--b"] {
            switch (arguments.value(option), arguments.value(option + "-ref")) {
            // Without named programs, this program measures two libraries of one engine.
            case (nil, nil) where arguments.has(option + SideLibraries.suffix): break
            case (nil, nil):
                throw usage("\(option) needs a program: assay ab --a BINARY --b BINARY, or --a-ref REV --b-ref REV")
            case (.some, .some): throw usage("\(option) and \(option)-ref both name a program: give one of them")
            case (nil, let name?): revisions[option] = try revision(name, option: option + "-ref")
            case (.some, nil): break
            }
        }
        func side(_ option: String) throws -> DescribedProgram {
            let libraries = SideLibraries.files(arguments, side: option)
            if let path = arguments.value(option) { return try binary(path, named: option, libraries) }
            guard let revision = revisions[option] else {
                return try binary(ProgramBuild.path, named: option, libraries)
            }
            return try built(revision, option: option + "-ref", libraries)
        }
        // Checks binaries first: that takes a moment, a build takes minutes.
        if revisions["--a"] != nil, revisions["--b"] == nil {
            let b = try side("--b")
            return (try side("--a"), b)
        }
        let a = try side("--a")
        return (a, try side("--b"))
    }

    private func binary(
        _ path: String, named option: String, _ libraries: [String] = []
    ) throws -> DescribedProgram {
        let program: DescribedProgram
        do {
            program = try DescribedProgram(path: path, scratch: scratch, engineLibraries: libraries)
        } catch let error as HarnessError {
            throw usage("\(option): \(error)")
        }
        let build = program.description.build
        if build.hasZoo, !arguments.has("--allow-zoo") {
            throw usage(
                "\(option): \(path) was built with planted bugs (trait Zoo), which must not measure; "
                    + "--allow-zoo takes it nevertheless")
        }
        if !build.isRelease, !arguments.has("--allow-debug") {
            throw usage(
                "\(option): \(path) is a debug build, whose figures say nothing about a release; "
                    + "--allow-debug takes it nevertheless")
        }
        return program
    }

    // MARK: Revisions

    /// Throws: `UsageError` for a name that is no commit.
    mutating func revision(_ name: String, option: String) throws -> Revision {
        do {
            return try sources().repository.revision(name)
        } catch let error as HarnessError {
            throw usage("\(option): \(error)")
        }
    }

    /// The revisions after `good` up to `bad`, oldest first.
    mutating func line(from good: Revision, to bad: Revision) throws -> [Revision] {
        do {
            return try sources().repository.line(from: good, to: bad)
        } catch let error as HarnessError {
            throw usage("\(error)")
        }
    }

    /// Throws: `RevisionBuildError` if the revision does not build, `UnusableRevision` if its program cannot be
    /// compared, `UsageError` for causes outside the revision.
    mutating func built(
        _ revision: Revision, option: String, _ libraries: [String] = []
    ) throws -> DescribedProgram {
        let path: String
        do {
            path = try sources().builds.program(of: revision) { Output.error($0) }
        } catch let error as HarnessError {
            throw usage("\(option): \(error)")
        }
        do {
            var program = try binary(path, named: "\(option) \(revision.text), which was built", libraries)
            program.revision = revision
            return program
        } catch let error as UsageError {
            throw UnusableRevision(
                message: "\(error); a revision can be compared that answers `assay worker --describe` as this build "
                    + "does")
        }
    }

    private mutating func sources() throws -> (repository: Repository, builds: RevisionBuilds) {
        if let source { return source }
        let found = try Repository(around: repository, scratch: scratch)
        let opened = (found, try RevisionBuilds(found, directory: builds, scratch: scratch))
        source = opened
        return opened
    }
}
