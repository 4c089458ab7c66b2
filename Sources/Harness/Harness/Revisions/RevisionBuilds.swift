import Files
import JSONText
import Platform
import Seeds

/// A revision could not be built into a program to compare.
package struct RevisionBuildError: Error, CustomStringConvertible {
    package var revision: Revision
    package var reason: String
    /// The file with the output of the compiler.
    package var log: String

    package var description: String { "\(revision.text) does not build: \(reason)\nall of it is in \(log)" }
}

/// Release builds of revisions, kept by commit so that none is built twice.
///
/// Invariants:
/// 1. The directory of a build names its commit, and a digest of its traits and compiler. It appears complete, by a
///    rename. The paths of all builds are equally long.
/// 2. All revisions are built in one directory: equal sources give equal programs, and unchanged files are not compiled
///    again.
/// 3. One process builds at a time, under a lock that the kernel releases when the process ends.
/// 4. A directory that has other contents than builds is refused, and nothing in it is changed.
package struct RevisionBuilds {
    private static let marker = ".assay-builds"
    private static let program = "assay"
    private static let library = "libAssayPreload.so"

    package let directory: String
    private let repository: Repository
    private let scratch: String
    /// The traits of the package whose libraries are installed.
    private let traits: [String]
    private let compiler: String
    /// The first line of the compiler's version output.
    private let compilerVersion: String

    /// - Parameters:
    ///   - directory: where builds are kept; nil for a directory below the checkout.
    ///   - scratch: a directory for the output of programs.
    ///   - compiler: `swift`, or the value of the variable SWIFT.
    package init(
        _ repository: Repository, directory: String?, scratch: String, compiler: String = Self.compilerOfEnvironment
    ) throws {
        self.repository = repository
        self.scratch = scratch
        self.compiler = compiler
        let path = directory ?? repository.path + "/.build/revisions"
        try Self.require(path)
        // An absolute path, since compiler and linker run in another directory.
        self.directory = FileTree.absolute(path) ?? path
        let output = scratch + "/tool.output"
        guard try Self.end(of: [compiler, "--version"], output) == .exited(0) else {
            throw HarnessError(
                "\(compiler) does not run, which revisions are built by: put Swift 6.3 on the path, or name the "
                    + "program with the variable SWIFT")
        }
        compilerVersion = try FileTree.readText(output).split(separator: "\n").first.map(String.init) ?? ""
        let tool = repository.path + "/Tools/traits"
        let hasTraits = FileTree.exists(tool)
        if hasTraits, try Self.end(of: [tool, "--quiet"], output) != .exited(0) {
            throw HarnessError("\(tool): \(try FileTree.readText(output).prefix(400))")
        }
        let list = hasTraits ? try FileTree.readText(output).split { ",\n".contains($0) }.map(String.init) : []
        traits = list.filter { $0 != "default" }.sorted()
    }

    package static var compilerOfEnvironment: String {
        getenv("SWIFT").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "swift"
    }

    private static func end(of words: [String], _ output: String) throws -> ChildEnd {
        do {
            return try ChildProgram(words, outputFile: output).run()
        } catch let error as HarnessError {
            try FileTree.writeText(output, error.message)
            return .exited(127)
        }
    }

    private static func require(_ path: String) throws {
        if FileTree.exists(path + "/" + marker) { return }
        try FileTree.createDirectory(path)
        guard FileTree.isDirectory(path), try FileTree.names(in: path).isEmpty else {
            throw HarnessError(
                "\(path) holds something else than builds of revisions: there is no \(marker) in it. Nothing was "
                    + "touched. Name another directory with --builds")
        }
        try FileTree.writeText(path + "/" + marker, "Builds of revisions, by commit. All of it may be removed.\n")
    }

    // MARK: Building

    /// The path of a revision's program, which is built unless a build of it is kept.
    ///
    /// - Parameter announce: called before a build, which takes minutes.
    /// Throws: `RevisionBuildError`; `WorkInterrupted`.
    package func program(of revision: Revision, announce: (String) -> Void) throws -> String {
        let manifest = try repository.file("Package.swift", in: revision.commit)
        let wanted = traits.filter { manifest?.contains(".trait(name: \"\($0)\"") == true }
        let name = name(revision, traits: wanted)
        let kept = "\(directory)/\(name)/\(Self.program)"
        if FileTree.exists(kept) { return kept }
        let log = "\(directory)/\(name).log"
        guard let manifest, manifest.contains("\"AssayTool\"") else {
            try FileTree.writeText(log, "Package.swift of \(revision.commit) has no target AssayTool\n")
            throw RevisionBuildError(revision: revision, reason: "it has no program assay", log: log)
        }
        guard case .taken(let lock) = try DirectoryLock.attempt(directory + "/" + DirectoryMarker.lockFile) else {
            throw HarnessError(
                "another process builds revisions in \(directory): wait until it has ended, or name another "
                    + "directory with --builds")
        }
        try withExtendedLifetime(lock) {
            if FileTree.exists(kept) { return }
            announce("building \(revision.text), which takes some minutes; it is kept in \(directory)/\(name)")
            try build(revision, manifest, wanted, log: log, to: name)
        }
        return kept
    }

    private func name(_ revision: Revision, traits: [String]) -> String {
        let setup = StableHash.identifier(of: traits.joined(separator: ",") + ";" + compilerVersion)
        return "\(revision.commit)-\(setup.prefix(8))"
    }

    private func build(
        _ revision: Revision, _ manifest: String, _ traits: [String], log: String, to name: String
    ) throws {
        let (source, products) = (directory + "/source", directory + "/products")
        try repository.checkOut(revision.commit, to: source)
        var words = [compiler, "build", "--package-path", source, "--scratch-path", products, "-c", "release"]
        if manifest.contains(".trait(name:") {
            words += ["--traits", traits.isEmpty ? "default" : traits.joined(separator: ",")]
        }
        let hasLibrary = manifest.contains("\"AssayPreload\"")
        let built = products + "/release"
        for file in [Self.program, Self.library] { try FileTree.remove("\(built)/\(file)") }
        for product in [Self.program] + (hasLibrary ? ["AssayPreload"] : []) {
            let end = try Self.end(of: words + ["--product", product], log)
            if case .exited(0) = end { continue }
            if let fault = try Self.faultOfMachine(end, log) {
                throw HarnessError("\(revision.text) could not be built: \(fault)\nall of it is in \(log)")
            }
            throw RevisionBuildError(
                revision: revision, reason: try Self.reason(log) ?? "\(compiler) build ended with \(end)", log: log)
        }
        let files = [Self.program] + (hasLibrary ? [Self.library] : [])
        if let missing = files.first(where: { !FileTree.exists("\(built)/\($0)") }) {
            throw RevisionBuildError(revision: revision, reason: "the build made no \(missing)", log: log)
        }
        let new = directory + "/new"
        try FileTree.remove(new)
        try FileTree.createDirectory(new)
        for file in files {
            try FileTree.copy(from: "\(built)/\(file)", to: "\(new)/\(file)")
            guard chmod("\(new)/\(file)", 0o755) == 0 else { throw HarnessError("chmod \(new): \(systemMessage())") }
        }
        let description = JSONValue.object([
            JSONMember("commit", .string(revision.commit)), JSONMember("subject", .string(revision.subject)),
            JSONMember("traits", .strings(traits)), JSONMember("compiler", .string(compilerVersion)),
        ])
        try FileTree.writeText(new + "/build.json", description.text + "\n")
        guard rename(new, directory + "/" + name) == 0 else {
            throw HarnessError("cannot move \(new) to \(name): \(systemMessage())")
        }
        try FileTree.remove(log)
    }

    /// Why the machine, and not the revision, made the build fail: elsewhere or later it would succeed. nil if the
    /// revision is at fault.
    private static func faultOfMachine(_ end: ChildEnd, _ log: String) throws -> String? {
        if case .signalled(let signal) = end { return "the compiler was ended by signal \(signal)" }
        let text = try FileTree.readText(log)
        if text.contains("No space left on device") { return "the disk is full: free some space, or name --builds" }
        if text.contains("Cannot allocate memory") { return "memory ran out" }
        return nil
    }

    /// The first error that the compiler printed.
    private static func reason(_ log: String) throws -> String? {
        let lines = try FileTree.readText(log).split(separator: "\n")
        return lines.first { $0.contains("error: ") }.map { String($0.prefix(300)) }
    }
}
