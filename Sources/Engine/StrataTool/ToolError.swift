import StrataFiles
import StrataRepair
import StrataStorage

/// A failed command: the error, its place, the remedy, and the exit status.
struct ToolError: Error {
    let message: String
    let status: Int32

    init(_ message: String, status: Int32 = 1) {
        self.message = message
        self.status = status
    }

    /// - Parameter path: the file that the user named.
    init(_ error: StorageError, path: String) {
        (message, status) = Self.explain(error, path)
    }

    /// Explains the error of an open. A file without valid headers may still be a store: if a salvage finds nodes in
    /// it, it counts as damaged.
    init(opening error: StorageError, path: String, _ cipher: (any Cipher)?) {
        guard case .notAStore = error else {
            self.init(error, path: path)
            return
        }
        var settings = SalvageOptions()
        settings.cipher = cipher
        do throws(StorageError) {
            _ = try Salvage.examine(path, options: settings)
            self.init(.corrupt(page: PageNumber(0), offset: 0, reason: .header), path: path)
        } catch {
            self.init(error, path: path)
        }
    }

    private static func explain(_ error: StorageError, _ path: String) -> (String, Int32) {
        switch error {
        case .file(let failure) where failure.errno == 17:
            ("\(failure.path) is there already, and is not overwritten. Name another file, or remove it first", 1)
        case .file(let failure): ("\(failure)", 1)
        case .noSpace(let failure): ("\(failure). Free some space, then try again; \(path) is unchanged", 1)
        case .notAStore(let path): ("\(path) is not a Strata store", 1)
        case .unsupportedFormat(let path, let version):
            (
                version < Format.version
                    ? "\(path) is of format \(version), an older one; this program reads \(Format.version). It was not "
                        + "touched: use a strata that reads format \(version)"
                    : "\(path) is of format \(version); this program reads \(Format.version). Use a newer strata", 1
            )
        case .keyRequired(let path):
            ("\(path) is encrypted. Name the file that holds its key by --key-file", 1)
        case .wrongKey(let path): ("\(path) is encrypted with another key. Name its key file by --key-file", 1)
        case .notEncrypted(let path): ("\(path) is not encrypted. Leave out --key-file", 1)
        case .inUse(let path): ("\(path) is open in another program. Close it there, then try again", 1)
        case .beingRead(let path, let processes):
            (
                "\(path) is being read"
                    + (processes.isEmpty ? "" : " by process " + processes.map(String.init).joined(separator: ", "))
                    + ". Wait for the reader, then try again", 1
            )
        case .unshared(let path):
            ("one program keeps \(path) open alone, as the disk is full. Free some space, then reopen it there", 1)
        case .limit(.processes):
            ("32 processes have \(path) open, which is the limit. Close it in one of them, then try again", 1)
        case .readOnly(let path):
            (
                "\(path) was not closed: its log has to be replayed first, and that writes. Open it once with the "
                    + "program that it belongs to, or run strata compact \(path)", 1
            )
        case .poisoned, .commitOutcomeUnknown: ("writing \(path) failed. Check the disk, then try again", 1)
        case .corrupt, .logMissing, .logMismatch, .logCorrupt, .logOutdated:
            (
                "\(path) is damaged: \(finding(error)). strata check \(path) lists everything that is wrong, "
                    + "strata salvage \(path) --to NEW gets back what can be read", 2
            )
        case .unsound(let path, let rule):
            (
                "the file made of \(path) breaks a rule of the format: \(rule). It was removed, and \(path) is "
                    + "unchanged. Restore a backup if there is one; strata dump \(path) writes its rows as text", 2
            )
        case .limit(let limit): ("\(path): a limit was reached (\(limit))", 1)
        default: ("\(path): \(error)", 1)
        }
    }

    /// A short description of the damage to a store.
    static func finding(_ error: StorageError) -> String {
        switch error {
        case .corrupt(let page, let offset, let reason):
            "\(page), offset \(offset): \(Self.reason(reason))"
        case .logMissing(let path): "its log \(path) is missing"
        case .logMismatch(let path): "\(path) is the log of another store, or of an earlier state of this one"
        case .logOutdated(let path):
            "\(path) is an older copy of its log, or damaged at its end. Restore the newest copy if there is one"
        case .logCorrupt(let path, let offset): "\(path) is damaged at offset \(offset)"
        default: "\(error)"
        }
    }

    static func reason(_ reason: StorageError.Corruption) -> String {
        switch reason {
        case .checksum: "the checksum does not fit the bytes"
        case .structure: "the contents contradict themselves"
        case .fileTooShort: "the file ends before this page"
        case .header: "no valid header"
        case .slotsDiffer: "the two headers contradict each other"
        case .seal: "the bytes do not open under the key"
        default: reason.rawValue
        }
    }
}

/// Runs `body`, and names the file in its errors.
func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as StorageError { throw ToolError(error, path: path) } catch let error
        as FileError
    {
        throw ToolError("\(error)")
    }
}

extension NodeKind {
    /// The name of the kind in docs/file-format.md.
    var word: String {
        switch self {
        case .entryLeaf: "entry leaf"
        case .entryBranch: "entry branch"
        case .freeMap: "free map"
        case .freeMapRoot: "free map root"
        case .collectionLeaf: "collection leaf"
        case .collectionBranch: "collection branch"
        default: "\(self)"
        }
    }
}
