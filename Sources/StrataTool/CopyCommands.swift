import Commands
import JSONText
import StrataFiles
import StrataStorage

/// Rewrites a file without its free pages.
struct CompactCommand: Command {
    let name = "compact"
    let summary = "rewrites FILE without its free space"
    let details = [
        "Replays the log first, if a process left one. The new file takes the old one's place in one step, when it is",
        "complete and on the disk; until then the old one is as it was. Needs room for both.",
    ]
    let positional = ["FILE"]
    let options = [KeyFile.option, OptionSpecification.json]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        var settings = StoreOptions()
        settings.cipher = try KeyFile.cipher(arguments)
        let before = try size(path)
        try naming(path) { try Store.compact(path: path, options: settings) }
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
    private static let newKey = OptionSpecification("--new-key-file", value: "KEY", "the key that NEW gets")
    private static let decrypt = OptionSpecification("--decrypt", "NEW is not encrypted")
    let options = [KeyFile.option, newKey, decrypt, OptionSpecification.json]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let destination = arguments.positional[1]
        try refuseExisting(destination)
        var cipher = try KeyFile.cipher(arguments)
        let store = try openForReading(path, cipher)
        if let new = try KeyFile.cipher(arguments, Self.newKey) { cipher = new }
        if arguments.has(Self.decrypt.name) { cipher = nil }
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

/// Opens a store that is there, and writes nothing to it.
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
                "\(path) is there already; nothing is written over. Name another file, or remove it first")
        }
    }
}
