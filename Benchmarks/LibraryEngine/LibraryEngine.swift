import CAssayEngine
import Files
import Harness
import PackedRows
import Platform
import RunRecords

/// An engine from a shared library: its properties come from the library's description, and the library itself is
/// loaded at the first open.
package struct LibraryEngine: Engine {
    package let description: LibraryDescription

    package init(_ description: LibraryDescription) {
        self.description = description
    }

    package var name: String { description.name }
    package var version: String { description.version }
    package var file: EngineFile? { description.file }
    package var assertions: [String] { description.assertions }

    package var capabilities: Set<Capability> {
        var capabilities: Set<Capability> = [.tables, .queries, .updates, .deletions, .keyedRows]
        for claim in description.claims {
            switch claim {
            case .persistent: capabilities.insert(.persistent)
            case .snapshots: capabilities.insert(.snapshots)
            case .compaction: capabilities.insert(.compaction)
            case .checks: capabilities.insert(.checks)
            case .processes: capabilities.insert(.processes)
            // An engine whose transactions do not see their own writes does not get the capability: applications rely
            // on it.
            case .ownWrites: capabilities.insert(.transactions)
            }
        }
        if description.threads != .one { capabilities.insert(.threads) }
        return capabilities
    }

    /// A library's promises name no durability class: for a power failure they count only in the class `full`.
    package var promises: [Promise] {
        description.promises.compactMap { given in
            if let level = IsolationLevel(rawValue: given.level) {
                return Promise(isolation: level, sentence: given.sentence, source: given.source)
            }
            return Promise.Kind(rawValue: given.kind).map {
                Promise($0, sentence: given.sentence, source: given.source).atPowerLoss(in: [.full])
            }
        }
    }

    package func settings(for durability: DurabilityClass) -> EngineSettings {
        EngineSettings(durability: durability, list: description.settings[durability] ?? [])
    }

    package func reasonToDecline(_ durability: DurabilityClass) -> String? {
        description.settings[durability] == nil
            ? "\(name) does not have the durability class \(durability.rawValue)" : nil
    }

    package func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
        if let reason = reasonToDecline(settings.durability) { throw EngineError(.unsupported, reason) }
        let library = try library()
        return try LibrarySession(library, directory: location.directory, settings.durability)
    }

    /// The loaded library, which must be the file that was described.
    func library() throws(EngineError) -> EngineLibrary {
        do throws(LibraryError) {
            let library = try EngineLibrary.load(description.file.path)
            guard library.description == description else {
                throw LibraryError(
                    description.file.path, "the library is another one than when this began",
                    remedy: "Begin again, or build it elsewhere meanwhile")
            }
            return library
        } catch {
            throw EngineError(.unsupported, error.description)
        }
    }

    package func learn(_ tables: TableSet) {
        PackedCatalogue.learn(tables)
        LibraryStore.open.prepare()
    }

    package var logPatterns: [String] { patterns(.log) }
    package var coordinationPatterns: [String] { patterns(.lock) }
    package var constantPatterns: [String] { patterns(.constant) }
    /// Assumed of every library, since a description cannot deny it.
    package var changesFilesAtOpen: Bool { true }

    private func patterns(_ role: LibraryDescription.FilePattern.Role) -> [String] {
        description.files.filter { $0.role == role }.map(\.pattern)
    }

    package func files(at location: DatabaseLocation) -> [DatabaseFile] {
        guard description.claims.contains(.persistent) else { return [] }
        let names: [String]
        do { names = try FileTree.names(in: location.directory) } catch { return [] }
        let files = names.compactMap { name -> DatabaseFile? in
            guard let role = role(of: name) else { return nil }
            return DatabaseFile(path: location.directory + "/" + name, role: role)
        }
        return files.filter { $0.role == .data } + files.filter { $0.role != .data }
    }

    /// By the first matching pattern; nil for a file that is not part of the database.
    private func role(of name: String) -> DatabaseFile.Role? {
        guard let first = description.files.first(where: { fnmatch($0.pattern, name, 0) == 0 }) else { return nil }
        switch first.role {
        case .data, .constant: return .data
        case .log: return .log
        case .lock: return .lock
        case .ignored: return nil
        }
    }
}

extension LibraryEngine: CheckingEngine {
    package func check(_ location: DatabaseLocation) throws(EngineError) {
        let library = try library()
        guard let check = library.check else { throw EngineError(.unsupported, "\(name) has no check") }
        try library.judge(check(location.directory), nil, "check")
    }
}
