import Files
import Platform
import RunRecords
import Synchronization

/// The library files that the user chose for engines, in place of those that the program was linked with.
///
/// They are passed in the environment, so that all child processes get them: workers, steps, and the sides of a
/// comparison.
package enum PeerLibraries {
    /// The variable. Its value has a line for each library and its file: `rocksdb=/opt/lib/librocksdb.so.9`.
    package static let variable = "ASSAY_PEER_LIBRARIES"

    package struct Choice: Sendable, Hashable {
        /// The ``Engine/library`` of the engines that it is for, such as `rocksdb`.
        package var name: String
        /// Absolute.
        package var path: String

        package init(name: String, path: String) {
            self.name = name
            self.path = path
        }
    }

    /// The choices that this process got, by name.
    package static let choices: [Choice] = {
        guard let text = getenv(variable) else { return [] }
        return read(String(cString: text))
    }()

    package static func read(_ text: String) -> [Choice] {
        text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 ? Choice(name: parts[0], path: parts[1]) : nil
        }.sorted { $0.name < $1.name }
    }

    package static func text(_ choices: [Choice]) -> String {
        choices.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.path)" }.joined(separator: "\n")
    }

    private static let files = Mutex<[String: EngineFile?]>([:])

    /// The file that the user chose for a library, with its digest; nil if there is none, or it cannot be read.
    package static func file(of library: String) -> EngineFile? {
        guard let choice = choices.first(where: { $0.name == library }) else { return nil }
        return file(at: choice.path)
    }

    /// The file with its digest, computed once per process. nil if it cannot be read.
    package static func file(at path: String) -> EngineFile? {
        files.withLock { files in
            if let file = files[path] { return file }
            let file = EngineFile(path: path)
            files[path] = file
            return file
        }
    }

    /// Why the engine's functions do not come from the chosen file; nil if they do, or no file was chosen.
    package static func objection(to engine: any Engine) -> String? {
        guard let chosen = engine.peerLibrary, let function = engine.libraryFunction else { return nil }
        let wanted = FileTree.absolute(chosen.path) ?? chosen.path
        guard let loaded = LoadedLibrary.of(function: function) else {
            return "\(chosen.path) was chosen for \(engine.library), and no library of this process has \(function)"
        }
        if loaded.path == wanted { return nil }
        return "\(function) comes from \(loaded.path), not from \(chosen.path), which was chosen for \(engine.library)"
    }
}

extension Engine {
    /// The name of the engine's library file, if it is built with assertions: its speed is not that of a release build.
    package var assertions: [String] {
        guard let function = libraryFunction, let library = LoadedLibrary.of(function: function),
            library.object?.hasAssertions == true
        else { return [] }
        return [library.fileName]
    }

    /// The engine's libraries, as the report shows them beside its settings.
    package var librarySettings: [EngineSetting] {
        var list = compiledSettings
        if let peerLibrary {
            list.append(EngineSetting(EngineSetting.library, "\(peerLibrary.path) (digest \(peerLibrary.digest))"))
        }
        if !assertions.isEmpty {
            list.append(EngineSetting(EngineSetting.assertions, "COMPILED IN: \(assertions.joined(separator: ", "))"))
        }
        return list
    }
}

extension EngineSetting {
    fileprivate static let library = "library"
    fileprivate static let assertions = "ASSERTIONS"

    /// Names of the settings in ``Engine/librarySettings``. A record has each name once, so no engine may use these.
    package static let ofLibraries = [library, assertions]
}
