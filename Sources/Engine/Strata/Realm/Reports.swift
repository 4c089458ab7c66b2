import Platform
import StrataStorage
import Synchronization

extension RealmConfiguration {
    /// An event of a database that no call could throw.
    public enum Report: Sendable, CustomStringConvertible {
        /// An unreadable place of the file. Reported once for each place and process.
        case damage(Realm.Damage)
        /// A read of something deleted, missing or unreadable: the caller got a substitute.
        case substituted(InvalidAccessReport)
        /// The file's last Realm was released, and closing the file failed.
        case closeFailed(RealmError)
        /// The file system does not guarantee what the database relies on. The file was opened all the same.
        case unsafeFileSystem(String)
        /// The file existed and had no byte in it, and is a new database now: a program made it empty, or it was
        /// truncated.
        case startedEmpty(String)

        /// The event, and the remedy.
        public var description: String {
            switch self {
            case .damage(let damage): damage.description
            case .substituted(let report): report.message
            case .closeFailed(let error): "\(error)"
            case .unsafeFileSystem(let message), .startedEmpty(let message): message
            }
        }
    }

    /// Passes a report to the program's handlers, or to standard error if there is none for it.
    ///
    /// ``invalidAccessHandler`` and ``closeFailureHandler`` get reports of their kind, ``report`` gets all.
    /// - Parameter isTold: whether standard error has it already.
    func tell(_ told: Report, isTold: Bool = false) {
        #if Zoo
            if PlantedMistake.damageUntold.isPlanted { return }
        #endif
        var isHeard = isTold
        switch told {
        case .damage(let damage):
            // A program that has set this handler only is told of damage through it, as of values that cannot be read.
            if report == nil, let invalidAccessHandler {
                invalidAccessHandler(damage.invalidAccessReport)
                isHeard = true
            }
        case .substituted(let substituted):
            if let invalidAccessHandler {
                invalidAccessHandler(substituted)
                isHeard = true
            }
        case .closeFailed(let error):
            if let closeFailureHandler {
                closeFailureHandler(error)
                isHeard = true
            }
        case .unsafeFileSystem, .startedEmpty: break
        }
        if let report {
            report(told)
            isHeard = true
        }
        if !isHeard { StandardErrorReports.add("\(told)", of: path) }
    }
}

extension RealmConfiguration {
    /// Reports events of a file that was just opened.
    func tellOpened(_ store: Store) {
        if store.damage.startedEmpty {
            tell(
                .startedEmpty(
                    "\(path) had no byte in it, and is a new database now; if it held objects, put a copy back"
                ))
        }
        guard fileSystem == .checked, inMemoryIdentifier == nil,
            let kind = storeOptions.fileSystem.servedKind(of: path)
        else { return }
        tell(
            .unsafeFileSystem(
                "\(path) is on \(kind): processes of other machines may not see its locks and its map, and a sync may "
                    + "end before the disk has the data, so that commits get lost. Move the file to a local disk, or, "
                    + "if one machine alone uses it and syncs reach the disk, set Realm.Configuration.fileSystem = "
                    + ".trusted"))
    }
}

/// Prints reports to standard error, for programs without handlers.
///
/// For each file the first twenty different reports are printed in full. Then one line says that further ones are
/// counted, and their number is printed when the file is closed.
enum StandardErrorReports {
    /// The number of reports per file that are printed in full.
    static let limit = 20

    private struct Told {
        var lines: Set<String> = []
        var others = 0
    }

    private static let files = Mutex<[String: Told]>([:])

    static func add(_ line: String, of path: String) {
        let printed: String? = files.withLock { files in
            var told = files[path] ?? Told()
            defer { files[path] = told }
            if told.lines.contains(line) { return nil }
            if told.lines.count < limit {
                told.lines.insert(line)
                return line
            }
            told.others += 1
            return told.others == 1
                ? "\(path): \(limit) reports were printed, and further ones are counted; Realm.damage lists what "
                    + "cannot be read, and Realm.Configuration.report gets every report" : nil
        }
        if let printed { print(printed) }
    }

    /// Prints how many reports were only counted. Called after the file's last Realm was released.
    static func end(_ path: String) {
        let others = files.withLock { $0.removeValue(forKey: path)?.others ?? 0 }
        if others > 0 { print("\(path): \(others) further reports since it was opened") }
    }

    private static func print(_ line: String) {
        Array("Strata: \(line)\n".utf8).withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
