import CAssayEngine
import Files
import Harness
import Platform
import RunRecords
import Synchronization

/// A shared library with an engine, loaded into this process: only in workers, never in a runner, which must survive
/// any failure of a library.
///
/// `@unchecked Sendable`: the library's table of functions does not change, and its pointers are C's.
package final class EngineLibrary: @unchecked Sendable {
    package typealias Open =
        @convention(c) (UnsafePointer<CChar>?, UInt32, UnsafeMutablePointer<OpaquePointer?>?)
        -> Int32
    package typealias Handle = @convention(c) (OpaquePointer?) -> Int32
    package typealias End = @convention(c) (OpaquePointer?) -> Void
    package typealias Begin = @convention(c) (OpaquePointer?, UInt32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    package typealias Get = @convention(c) (OpaquePointer?, assay_bytes, UnsafeMutablePointer<assay_bytes>?) -> Int32
    package typealias Put = @convention(c) (OpaquePointer?, assay_bytes, assay_bytes) -> Int32
    package typealias Delete = @convention(c) (OpaquePointer?, assay_bytes) -> Int32
    package typealias Scan =
        @convention(c) (
            OpaquePointer?, UnsafePointer<assay_bytes>?, UnsafePointer<assay_bytes>?, Int32,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32
    package typealias Next =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<assay_bytes>?, UnsafeMutablePointer<assay_bytes>?
        ) -> Int32
    package typealias LastError = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
    package typealias Check = @convention(c) (UnsafePointer<CChar>?) -> Int32
    package typealias LiveBytes = @convention(c) (OpaquePointer?, UnsafeMutablePointer<UInt64>?) -> Int32
    private typealias Settings = @convention(c) (UInt32) -> UnsafePointer<CChar>?
    private typealias Exported = @convention(c) (UInt32) -> UnsafePointer<assay_engine_functions>?

    package let description: LibraryDescription
    let open: Open
    let close: Handle
    let begin: Begin
    let get: Get
    let put: Put
    let delete: Delete
    let scan: Scan
    let next: Next
    let endScan: End
    let commit: Handle
    let abort: End
    let lastError: LastError
    let compact: Handle?
    let check: Check?
    let liveBytes: LiveBytes?

    static let abi = ASSAY_ENGINE_ABI
    static let symbol = "assay_engine"
    private static let loaded = Mutex<[String: EngineLibrary]>([:])

    /// Loads a library, once per process: it stays until the process ends.
    package static func load(_ path: String) throws(LibraryError) -> EngineLibrary {
        try loaded.withLock { loaded throws(LibraryError) in
            if let library = loaded[path] { return library }
            let library = try EngineLibrary(path)
            loaded[path] = library
            return library
        }
    }

    private init(_ given: String) throws(LibraryError) {
        let file = try Self.file(given)
        let table = try Self.table(of: file.path)
        func missing(_ name: String) -> LibraryError {
            LibraryError(
                file.path, "its function \(name) is NULL",
                remedy: "assay_engine.h says which members may be NULL: compact, check and live_bytes alone")
        }
        func required<Function>(_ function: Function?, _ name: String) throws(LibraryError) -> Function {
            guard let function else { throw missing(name) }
            return function
        }
        open = try required(table.open, "open")
        close = try required(table.close, "close")
        begin = try required(table.begin, "begin")
        get = try required(table.get, "get")
        put = try required(table.put, "put")
        delete = try required(table.delete_key, "delete_key")
        scan = try required(table.scan, "scan")
        next = try required(table.next, "next")
        endScan = try required(table.end_scan, "end_scan")
        commit = try required(table.commit, "commit")
        abort = try required(table.abort, "abort")
        lastError = try required(table.last_error, "last_error")
        let settings: Settings = try required(table.settings, "settings")
        compact = table.compact
        check = table.check
        liveBytes = table.live_bytes
        description = try Self.describe(table, settings, file)
        for (claim, isThere) in [(LibraryDescription.Claim.compaction, compact != nil), (.checks, check != nil)]
        where description.claims.contains(claim) && !isThere {
            let function = claim == .checks ? "check" : "compact"
            throw LibraryError(
                file.path, "its capabilities name \(claim.rawValue), and its function \(function) is NULL",
                remedy: "Take the word away, or give the function")
        }
    }

    /// The file of the library, checked before any of its code runs.
    package static func file(_ given: String) throws(LibraryError) -> EngineFile {
        guard let path = FileTree.absolute(given), FileTree.exists(path) else {
            throw LibraryError(given, "there is no such file", remedy: "Name the shared library by its path")
        }
        guard !FileTree.isDirectory(path) else {
            throw LibraryError(given, "that is a directory", remedy: "Name the shared library in it")
        }
        guard let file = EngineFile(path: path) else {
            throw LibraryError(given, "the file cannot be read, or is empty", remedy: "Build it again")
        }
        return file
    }

    private static func table(of path: String) throws(LibraryError) -> assay_engine_functions {
        _ = dlerror()
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "no reason was given"
            throw LibraryError(
                path, "it cannot be loaded as a shared library (\(reason))",
                remedy: "Build it with cc -shared -fPIC, and name what it needs itself by -l")
        }
        guard let found = dlsym(handle, symbol) else {
            throw LibraryError(
                path, "it exports no function \(symbol)",
                remedy: "Define it as assay_engine.h declares it: ASSAY_ENGINE_EXPORT, and in C++ extern \"C\"")
        }
        guard let table = unsafeBitCast(found, to: Exported.self)(abi) else {
            throw LibraryError(
                path, "its \(symbol)(\(abi)) answered NULL: it does not have that version of the ABI",
                remedy: "Build it with the assay_engine.h of this program")
        }
        // The first two words are the same in all versions: nothing after them is read before the version is known.
        let head = UnsafeRawPointer(table)
        let (itsABI, size) = (head.load(as: UInt32.self), head.load(fromByteOffset: 4, as: UInt32.self))
        guard itsABI == abi else {
            throw LibraryError(
                path, "it was built for version \(itsABI) of the ABI, and this program has \(abi)",
                remedy: "Build it with the assay_engine.h of this program")
        }
        let wanted = MemoryLayout<assay_engine_functions>.size
        guard Int(size) >= wanted else {
            throw LibraryError(
                path, "its struct assay_engine says that it has \(size) bytes, and version \(abi) has \(wanted)",
                remedy: "Set its member size to sizeof(struct assay_engine)")
        }
        return table.pointee
    }

    private static func describe(
        _ table: assay_engine_functions, _ settings: Settings, _ file: EngineFile
    ) throws(LibraryError) -> LibraryDescription {
        func wrong(_ message: String) -> LibraryError {
            LibraryError(file.path, message, remedy: LibraryError.header)
        }
        func text(_ pointer: UnsafePointer<CChar>?, _ member: String) throws(LibraryError) -> String {
            guard let pointer else { throw wrong("its \(member) is NULL") }
            return String(cString: pointer)
        }
        var description = LibraryDescription(file: file)
        description.assertions = LoadedLibrary.asserting(file.path)
        description.name = try text(table.name, "name")
        if let objection = LibraryText.objection(toName: description.name) { throw wrong(objection) }
        description.version = try text(table.version, "version")
        guard !description.version.isEmpty, !description.version.contains("\n") else {
            throw wrong("its version is no line of text")
        }
        guard let threads = LibraryDescription.Threads(rawValue: Int(table.threads)) else {
            throw wrong("its threads is \(table.threads), which is none of enum assay_threads")
        }
        description.threads = threads
        description.longestKey = table.longest_key
        description.longestValue = table.longest_value
        description.allowsEmptyKey = table.allows_empty_key != 0
        let capabilities = try text(table.capabilities, "capabilities")
        let promises = try text(table.promises, "promises")
        let files = try text(table.files, "files")
        do throws(LibraryTextError) {
            description.claims = try LibraryText.claims(capabilities)
            description.promises = try LibraryText.promises(promises)
            description.files = try LibraryText.files(files)
            for (number, durability) in zip(UInt32(0)..., DurabilityClass.allCases) {
                guard let list = settings(number) else { continue }
                description.settings[durability] = try LibraryText.settings(String(cString: list))
            }
        } catch { throw wrong(error.message) }
        try judge(description, wrong)
        return description
    }

    /// Checks that its texts are consistent.
    private static func judge(
        _ description: LibraryDescription, _ wrong: (String) -> LibraryError
    ) throws(LibraryError) {
        guard !description.settings.isEmpty else {
            throw wrong("its settings are NULL for every class of durability, and it must have one")
        }
        let hasFiles = description.files.contains { [.data, .log, .constant].contains($0.role) }
        if description.claims.contains(.persistent), !hasFiles {
            throw wrong("its capabilities name persistent, and its files name no data, log or constant")
        }
        let limits = (key: description.longestKey, value: description.longestValue)
        guard limits.key == 0 || limits.key >= 16, limits.value == 0 || limits.value >= 65_536 else {
            throw wrong("its longest key and value have to be 16 and 65536 bytes at least, or 0 for no limit")
        }
    }
}
