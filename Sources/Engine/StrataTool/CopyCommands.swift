import Commands
import JSONText
import StrataFiles
import StrataStorage

/// Rewrites a file without its free pages.
struct CompactCommand: Command {
    let name = "compact"
    let summary = "rewrites FILE without its free space"
    let details = [
        "Replays the log first, if a process left one. The new file replaces the old one in one step, when it is",
        "complete and on the disk; until then the old one is unchanged. The disk needs room for both.",
        "With --new-key-file or --decrypt it changes the key of FILE. If it is killed or the power fails, FILE is",
        "still the old one under the old key, or already the new one under the new key.",
    ]
    let positional = ["FILE"]
    let examples = [
        CommandExample("compact people.strata", "while no program has it open"),
        CommandExample("compact people.strata --key-file OLD --new-key-file NEW", "under another key"),
    ]
    let exitStatus = "0 rewritten, 2 the file is damaged, and unchanged"
    let options = [KeyFile.option, CopyCommand.newKey, CopyCommand.decrypt, OptionSpecification.json]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        var settings = StoreOptions()
        settings.cipher = try KeyFile.cipher(arguments)
        let before = try size(path)
        let cipher = try CopyCommand.newCipher(arguments, settings.cipher)
        try naming(path) { try Store.changeKey(path: path, options: settings, to: cipher) }
        let after = try size(path)
        if arguments.has("--json") {
            try Output.line(
                JSONValue.members([("file_bytes_before", .integer(before)), ("file_bytes", .integer(after))]).text)
        } else {
            try Output.line("\(path): \(readable(before)) before, \(readable(after)) now")
        }
        return 0
    }
}

/// Writes a compacted copy.
struct CopyCommand: Command {
    let name = "copy"
    let summary = "writes a compacted copy of FILE to NEW"
    let details = [
        "FILE is only read. NEW appears when it is complete and on the disk, and must not be there yet.",
        "It is encrypted as FILE is, unless --new-key-file or --decrypt says otherwise.",
    ]
    let positional = ["FILE", "NEW"]
    static let newKey = OptionSpecification("--new-key-file", value: "KEY", "the key that the new file gets")
    static let decrypt = OptionSpecification("--decrypt", "the new file is not encrypted")
    let examples = [
        CommandExample("copy people.strata copy.strata", "without its free space"),
        CommandExample("copy secret.strata plain.strata --key-file KEY --decrypt", "without its key"),
    ]
    let exitStatus = "0 written, 2 the file is damaged"
    let options = [KeyFile.option, newKey, decrypt, OptionSpecification.json]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let destination = arguments.positional[1]
        try refuseExisting(destination)
        let old = try KeyFile.cipher(arguments)
        let cipher = try Self.newCipher(arguments, old)
        let store = try openForReading(path, old)
        try naming(path) {
            try store.writeCopy(to: destination, cipher: cipher)
            try store.close()
        }
        let bytes = try size(destination)
        if arguments.has("--json") {
            try Output.line(JSONValue.members([("file_bytes", .integer(bytes))]).text)
        } else {
            try Output.line("\(destination): \(readable(bytes))")
        }
        return 0
    }
}

extension CopyCommand {
    /// The cipher of the new file.
    /// - Parameter old: the cipher of the old file.
    fileprivate static func newCipher(_ arguments: Arguments, _ old: (any Cipher)?) throws -> (any Cipher)? {
        let new = try KeyFile.cipher(arguments, newKey)
        if !arguments.has(decrypt.name) { return new ?? old }
        if new != nil { throw UsageError("--new-key-file and --decrypt exclude one another", command: "strata") }
        return nil
    }
}

/// Opens an existing store read-only.
func openForReading(_ path: String, _ cipher: (any Cipher)?) throws -> Store {
    _ = try size(path)
    var options = StoreOptions(readOnly: true)
    options.cipher = cipher
    do { return try Store.open(path: path, options: options) } catch {
        throw ToolError(opening: error, path: path, cipher)
    }
}

/// - Throws: when there is no such file.
func size(_ path: String) throws -> Int {
    try naming(path) {
        let fileSystem = POSIXFileSystem()
        guard let status = try fileSystem.status(try fileSystem.resolve(path)) else {
            throw ToolError("\(path): no such file")
        }
        guard status.isRegularFile else { throw ToolError("\(path) is not a file") }
        return Int(status.size)
    }
}

func refuseExisting(_ path: String) throws {
    try naming(path) {
        if try POSIXFileSystem().status(path) != nil {
            throw ToolError(
                "\(path) is there already, and is not overwritten. Name another file, or remove it first")
        }
    }
}
