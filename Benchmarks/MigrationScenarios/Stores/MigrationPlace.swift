import Files
import Harness
import StoreMigration
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A directory with the two stores of one migration and its outbox.
struct MigrationPlace {
    let directory: String

    init(_ directory: String) { self.directory = directory }

    var old: OldStore { OldStore(directory) }
    var new: ContactFile { ContactFile(newPath) }
    var newPath: String { directory + "/new.strata" }
    private var outbox: URL { URL(fileURLWithPath: directory + "/outbox.strata") }

    /// Makes both stores with the same rows.
    func make(_ rows: some Sequence<ContactRow>) throws {
        try FileTree.createDirectory(directory)
        try old.make(rows)
        try new.put(rows)
    }

    func openNew() throws -> StrataStore { try StrataStore(new.configuration, models: [Contact.model]) }

    /// - Parameter wrap: may put another store between the writer and a store.
    func writer(
        _ order: WriteOrder = .oldFirst, wrap: (StoreSide, any PrimaryStore) -> any PrimaryStore = { $1 }
    ) throws -> DoubleWriter {
        try DoubleWriter(
            old: wrap(.old, try old.open()), new: wrap(.new, try openNew()), outbox: outbox, order: order)
    }

    /// The contents of both stores.
    func contents() throws -> (old: ContactBook, new: ContactBook) { (try old.contents(), try new.contents()) }
}

extension DoubleWriter {
    /// Goes step by step to a later phase. The stores were filled alike and need no comparison.
    func advance(to phase: MigrationPhase) throws {
        for step in MigrationPhase.allCases where step.rawValue > self.phase.rawValue && step.rawValue <= phase.rawValue
        {
            try enter(step, unchecked: true)
        }
    }

    func write(_ changes: [ContactBook.Change]) throws -> WriteOutcome { try write(changes.map(\.recordChange)) }
}

extension MigrationPhase {
    /// The name in an address, without spaces and commas.
    var word: String {
        switch self {
        case .old: "old"
        case .bothOldRead: "both-old-read"
        case .bothNewRead: "both-new-read"
        case .new: "new"
        }
    }
}

extension WriteOrder {
    var word: String { self == .oldFirst ? "old-first" : "new-first" }
}

extension CaseContext {
    /// Runs the body. An error of a store, of a migration or of an import becomes the outcome of the case, not a
    /// failure of the harness.
    func withMigrationErrors<Output>(_ body: () throws -> Output) throws -> Output {
        do { return try body() } catch { throw MigrationFailure.engineError(error) }
    }
}

/// Tells errors of the tested code from those of the harness.
enum MigrationFailure {
    static func engineError(_ error: any Error) -> any Error {
        switch error {
        case is HarnessError, is EngineError, is FileTreeError: error
        case let error as Realm.Error:
            EngineError(error.code == .invalidDatabase ? .damaged : .refused, error.description)
        default: EngineError(.refused, "\(error)")
        }
    }
}
