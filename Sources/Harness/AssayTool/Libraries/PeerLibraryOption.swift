import Commands
import DuckDBEngine
import Files
import Harness
import Platform
import RunRecords
import Seeds

/// `--peer-library rocksdb=FILE`: the shared library to use for a peer engine.
///
/// The dynamic loader chooses a linked library before `main` runs. The command therefore restarts itself with the file
/// ahead in the loader's search path. DuckDB is not linked, and is loaded when it is opened.
enum PeerLibraryOption {
    static let option = "--peer-library"

    static let specification = OptionSpecification(
        option, value: "NAME=FILE", "another build of a peer's library (docs/peers.md); may be repeated")

    static let duckDB = "duckdb"
    /// The accepted engine names, each with the file name of its library.
    private static let linked = [("rocksdb", "librocksdb.so"), ("lmdb", "liblmdb.so"), ("sqlite", "libsqlite3.so")]

    /// Returns if this process has loaded the named libraries, and restarts the program otherwise.
    ///
    /// - Parameter recorded: engines of a run that is resumed or replayed; their recorded files are used unless the
    ///   command line names others.
    static func activate(_ arguments: Arguments, recorded: [EngineVersion] = []) throws {
        var choices = try given(arguments)
        for engine in recorded where !choices.contains(where: { $0.name == engine.library }) {
            guard let path = engine.libraryFile, FileTree.exists(path) else { continue }
            // A library that the loader finds by itself needs no restart.
            if engine.library == duckDB, duckDBPath == path { continue }
            choices.append(PeerLibraries.Choice(name: engine.library, path: path))
        }
        choices.sort { $0.name < $1.name }
        if choices.isEmpty || choices == PeerLibraries.choices { return }
        try start(with: choices, arguments.command)
    }

    private static func given(_ arguments: Arguments) throws -> [PeerLibraries.Choice] {
        let known = linked.map(\.0) + [duckDB]
        var choices: [PeerLibraries.Choice] = []
        for text in arguments.all(option) {
            func refuse(_ reason: String) -> UsageError {
                UsageError("\(option) \(text): \(reason)", command: arguments.command)
            }
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw refuse("name the library and its file: rocksdb=FILE") }
            guard known.contains(parts[0]) else {
                throw refuse(NearestName.complaint("library", parts[0], among: known))
            }
            guard let path = FileTree.absolute(parts[1]) else { throw refuse("there is no such file") }
            guard !FileTree.isDirectory(path) else {
                throw refuse("that is a directory: name the shared library in it")
            }
            guard !path.contains("\n") else { throw refuse("its path has a line break") }
            guard SharedObject(path: path) != nil else {
                throw refuse("it is no shared library: name a file such as librocksdb.so.9")
            }
            guard !choices.contains(where: { $0.name == parts[0] }) else {
                throw refuse("\(parts[0]) is named twice, and has one library in a run")
            }
            choices.append(PeerLibraries.Choice(name: parts[0], path: path))
        }
        return choices
    }

    // MARK: DuckDB

    /// The chosen library, else the installed one.
    static var duckDBPath: String? {
        PeerLibraries.choices.first { $0.name == duckDB }?.path
            ?? DuckDBSearch.find(environment: { name in getenv(name).map { String(cString: $0) } })
    }

    /// Asks a child that loads the library. If that fails, the engine's cases are skipped with the reason.
    @Sendable static func duckDBVersion(_ path: String) -> DuckDBEngine.Answer {
        let said: (isFine: Bool, text: String)
        do {
            said = try ask(["worker", PeerLibraryAnswer.option, path], WorkerEnvironment.inherited())
        } catch { said = (false, "no process could load \(path): \(error)") }
        return said.isFine ? .success(said.text) : .failure(EngineError(.refused, said.text))
    }

    // MARK: Restart

    private static func start(with choices: [PeerLibraries.Choice], _ command: String) throws {
        var places: [String] = []
        for choice in choices where choice.name != duckDB { places.append(try place(of: choice, command)) }
        let environment = environment(choices, places)
        // Tried in a child before the restart, so that a crashing library ends only the child.
        let said = try ask(["worker", PeerLibraryAnswer.checkOption], environment + ["LD_BIND_NOW=1"])
        guard said.isFine else {
            let names = choices.map { "\($0.name)=\($0.path)" }.joined(separator: ", ")
            throw UsageError("\(option) \(names): assay cannot use it: \(said.text)", command: command)
        }
        CommandVector.with([ProgramBuild.path] + CommandLine.arguments.dropFirst()) { words in
            CommandVector.with(environment) { variables in _ = execve(ProgramBuild.path, words, variables) }
        }
        throw HarnessError("cannot start \(ProgramBuild.path) anew: \(String(cString: strerror(errno)))")
    }

    private static let searchVariable = {
        #if canImport(Glibc)
            "LD_LIBRARY_PATH"
        #else
            "DYLD_LIBRARY_PATH"
        #endif
    }()

    private static func environment(_ choices: [PeerLibraries.Choice], _ places: [String]) -> [EnvironmentVariable] {
        let (search, chosen) = (searchVariable + "=", PeerLibraries.variable + "=")
        let inherited = WorkerEnvironment.inherited()
        let before = inherited.first { $0.hasPrefix(search) }?.value ?? []
        let all = places.map { Array($0.utf8) } + (before.isEmpty ? [] : [before])
        let searched = Array(search.utf8) + all.joined(separator: [UInt8(ascii: ":")])
        return inherited.filter { !$0.hasPrefix(search) && !$0.hasPrefix(chosen) }
            + [EnvironmentVariable(chosen + PeerLibraries.text(choices))]
            + (all.isEmpty ? [] : [EnvironmentVariable(searched)])
    }

    /// A directory with a link to the chosen file, under the file name that this program was linked with. The loader
    /// then finds the chosen file first, and loads no second library of that name. The directory is created once, and
    /// stays.
    private static func place(of choice: PeerLibraries.Choice, _ command: String) throws -> String {
        let file = linked.first { $0.0 == choice.name }?.1 ?? ""
        guard let program = SharedObject(path: ProgramBuild.path),
            let name = program.needed.first(where: { $0.hasPrefix(file) })
        else {
            throw UsageError(
                "\(option) \(choice.name)=\(choice.path): this program is not linked with \(file): build it with that "
                    + "library (Tools/traits says how)", command: command)
        }
        let directory = "\(cache)/assay/peer-libraries/\(StableHash.identifier(of: "\(name) \(choice.path)"))"
        try FileTree.createDirectory(directory)
        let link = "\(directory)/\(name)"
        if symlink(choice.path, link) != 0, errno != EEXIST {
            throw HarnessError("cannot make the link \(link): \(String(cString: strerror(errno)))")
        }
        guard FileTree.absolute(link) == choice.path else {
            throw HarnessError("\(link) leads elsewhere than to \(choice.path): remove it, and try again")
        }
        return directory
    }

    private static var cache: String {
        if let given = getenv("XDG_CACHE_HOME"), given.pointee != 0 { return String(cString: given) }
        if let home = getenv("HOME"), home.pointee != 0 { return String(cString: home) + "/.cache" }
        return "\(P_tmpdir)/cache-\(getuid())"
    }

    /// Runs this program as a child. Returns the last line that it printed, and whether it ended with status 0.
    private static func ask(
        _ words: [String], _ environment: [EnvironmentVariable]
    ) throws -> (isFine: Bool, text: String) {
        try ComparisonOptions.withScratch { scratch in
            let (output, errors) = (scratch + "/output", scratch + "/errors")
            var child = ChildProgram([ProgramBuild.path] + words, outputFile: output, errorFile: errors)
            child.environment = environment
            let end = try child.run()
            func last(_ path: String) throws -> String {
                try FileTree.readText(path).split(separator: "\n").last.map { String($0.suffix(400)) } ?? ""
            }
            if end == .exited(0) { return (true, try last(output)) }
            let said = try [output, errors].map(last).filter { !$0.isEmpty }
            return (false, said.isEmpty ? "the process that loaded it ended so: \(end)" : said.joined(separator: "; "))
        }
    }
}

/// The answer of a worker about libraries of peers: one line, and status 0 on success.
enum PeerLibraryAnswer {
    /// Asks for the version of the DuckDB library in a file.
    static let option = "--describe-duckdb"
    /// Asks whether the functions of the engines come from the files that the user chose.
    static let checkOption = "--check-peer-libraries"

    static func version(_ path: String) -> (line: String, status: Int32) {
        do throws(EngineError) { return (try DuckDBLibrary.load(path).version, 0) } catch { return (error.message, 1) }
    }

    static func check(_ registries: Registries) -> (line: String, status: Int32) {
        for choice in PeerLibraries.choices {
            if choice.name == PeerLibraryOption.duckDB {
                let said = version(choice.path)
                if said.status != 0 { return said }
                continue
            }
            for engine in registries.engines.engines where engine.library == choice.name {
                if let objection = engine.libraryObjection { return (objection, 1) }
            }
        }
        return ("fine", 0)
    }
}
