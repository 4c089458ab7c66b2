import Commands
import Files
import Harness
import JSONText
import LibraryEngine

/// Engines from shared libraries that the command line names (docs/engine-library.md).
///
/// A child process loads each library and describes it. A library that ends its process therefore does not end the
/// command.
enum EngineLibraries {
    static let option = "--engine-library"

    static let specification = OptionSpecification(
        option, value: "FILE", "a further engine, by a shared library (docs/engine-library.md); may be repeated")

    /// The engines of this build and of the libraries that the command line names. The chosen libraries of peers are
    /// loaded.
    static func registries(_ arguments: Arguments, hasEveryPeer: Bool = false) throws -> Registries {
        try PeerLibraryOption.activate(arguments)
        var registries = BuildRegistries.make(hasEveryPeer: hasEveryPeer)
        try add(arguments.all(option), to: &registries, command: arguments.command)
        return registries
    }

    /// - Parameter option: the option that named the files, for messages.
    static func add(
        _ files: [String], to registries: inout Registries, option: String = option, command: String
    ) throws {
        for file in files {
            let description: LibraryDescription
            do throws(LibraryError) {
                description = try describe(file)
            } catch {
                throw UsageError("\(option): \(error)", command: command)
            }
            let taken = registries.engines.engines.map(\.name) + registries.engines.notBuilt.map(\.name)
            guard !taken.contains(description.name) else {
                throw UsageError(
                    "\(option): \(file): its name \(description.name) is taken, as \(taken.joined(separator: ", ")) "
                        + "are. Give its member name another word", command: command)
            }
            registries.engines.register(LibraryEngine(description))
        }
    }

    /// The paths of the files that the option names, absolute, as the run's header records them.
    static func paths(_ arguments: Arguments) -> [String] {
        arguments.all(option).map { FileTree.absolute($0) ?? $0 }
    }

    /// Adds the engines of the named libraries to a plan that lists its engines; other plans take every engine anyway.
    static func add(_ registries: Registries, to plan: inout Plan) {
        guard !plan.engines.isEmpty else { return }
        plan.engines += registries.engines.engines.filter { $0.file != nil }.map { PlanName($0.name) }
            .filter { name in !plan.engines.contains { $0.text == name.text } }
    }

    /// Refuses a library that no case of the run would use.
    static func check(_ registries: Registries, are cases: [PlannedCase], command: String) throws {
        for engine in registries.engines.engines where engine.file != nil {
            guard !cases.contains(where: { $0.test.engine == engine.name }) else { continue }
            throw UsageError(
                "\(option): no case is on \(engine.name) with these options: add it to --engine, or name scenarios "
                    + "with --scenario", command: command)
        }
    }

    // MARK: What a library says about itself

    /// Asks a child process that loads the library.
    static func describe(_ file: String) throws(LibraryError) -> LibraryDescription {
        let path = try EngineLibrary.file(file).path
        let command = [ProgramBuild.path, "worker", LibraryAnswer.option, path]
        let said: (end: ChildEnd, output: String, errors: String)
        do {
            said = try ComparisonOptions.withScratch { scratch in
                let files = (scratch + "/described", scratch + "/errors")
                let end = try ChildProgram(command, outputFile: files.0, errorFile: files.1).run()
                return (end, try FileTree.readText(files.0), try FileTree.readText(files.1))
            }
        } catch {
            throw LibraryError(file, "assay could not examine it: \(error)", remedy: "Try again")
        }
        let alone = "Alone it is loaded by: " + command.map(ShellWord.quoted).joined(separator: " ")
        switch said.end {
        case .exited(0): break
        case .signalled(let signal) where signal == LibraryAnswer.lateSignal:
            throw LibraryError(
                file, "loading it did not end within \(LibraryAnswer.secondsToAnswer) seconds", remedy: alone)
        case .signalled(let signal):
            throw LibraryError(file, "it ended the process that loaded it, by signal \(signal)", remedy: alone)
        case .exited(let status):
            let text = said.errors.suffix(300).split(separator: "\n").joined(separator: "; ")
            throw LibraryError(
                file, "it ended the process that loaded it, with status \(status) \(text)", remedy: alone)
        }
        return try LibraryAnswer.read(said.output, file, remedy: alone)
    }
}

/// The answer of a worker about a library: JSON in the last line that it prints.
enum LibraryAnswer {
    static let option = "--describe-library"
    static let secondsToAnswer: UInt32 = 20
    /// The signal that ends a worker after `secondsToAnswer`: SIGALRM.
    static let lateSignal: Int32 = 14

    static func line(_ path: String) -> String {
        do throws(LibraryError) {
            return try EngineLibrary.load(path).description.json.text
        } catch {
            return JSONValue.object([
                JSONMember("refused", .string(error.message)), JSONMember("remedy", .string(error.remedy)),
            ]).text
        }
    }

    /// A library may print while it is loaded; those lines are ignored.
    static func read(_ output: String, _ file: String, remedy: String) throws(LibraryError) -> LibraryDescription {
        let line = output.split(separator: "\n").last.map(String.init) ?? ""
        let text = line.firstIndex(of: "{").map { String(line[$0...]) } ?? line
        let answer: LibraryDescription
        let refusal: (message: String, remedy: String)
        do {
            let reader = try JSONObjectReader(try JSONReader.read(text), path: "library")
            guard reader.has("refused") else {
                answer = try LibraryDescription(json: reader)
                return answer
            }
            refusal = (try reader.string("refused"), try reader.string("remedy"))
        } catch {
            throw LibraryError(file, "the process that loaded it ended without an answer", remedy: remedy)
        }
        throw LibraryError(file, refusal.message, remedy: refusal.remedy)
    }
}
