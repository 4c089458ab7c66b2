import Harness
import Platform
import RunRecords
import Synchronization

/// DuckDB's shared library, loaded into this process at run time: `libduckdb`, or the module of the Python package
/// `duckdb`, which also exports the C interface.
package final class DuckDBLibrary: Sendable {
    let functions: DuckDBFunctions
    /// Of the library: `2.0.1`.
    package let version: String

    private static let loaded = Mutex<[String: DuckDBLibrary]>([:])

    /// Loads a library, once per process: it stays until the process ends.
    package static func load(_ path: String) throws(EngineError) -> DuckDBLibrary {
        try loaded.withLock { loaded throws(EngineError) in
            if let library = loaded[path] { return library }
            let library = try DuckDBLibrary(path)
            loaded[path] = library
            return library
        }
    }

    private init(_ path: String) throws(EngineError) {
        if let object = SharedObject(path: path), object.imports.contains("_Py_NoneStruct") {
            try Self.loadPython(for: path)
        }
        _ = dlerror()
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "no reason was given"
            throw EngineError(.refused, "\(path) cannot be loaded: \(reason). \(Self.remedy)")
        }
        do throws(MissingFunction) {
            functions = try DuckDBFunctions(handle)
        } catch {
            throw EngineError(.refused, "\(path) has no function \(error.name). \(Self.remedy)")
        }
        let text = functions.version().map { String(cString: $0) } ?? "unknown"
        version = text.hasPrefix("v") ? String(text.dropFirst()) : text
    }

    package static let remedy = "Remedy: pip install duckdb==2.0.1, or --peer-library duckdb=FILE with a libduckdb"

    // MARK: The module of the Python package

    /// The module imports symbols of Python's library, which must be loaded first.
    private static func loadPython(for path: String) throws(EngineError) {
        if dlsym(LoadedSymbols.everywhere, "_Py_NoneStruct") != nil { return }
        for name in pythonLibraries(for: path) where dlopen(name, RTLD_LAZY | RTLD_GLOBAL) != nil { return }
        let names = pythonLibraries(for: path)
        let version = names[0].dropFirst("lib".count).prefix { $0 != "s" }.dropLast()
        throw EngineError(
            .refused,
            "\(path) needs \(names.joined(separator: " or ")), which this machine has not. Remedy: apt-get install "
                + "lib\(version), or --peer-library duckdb=FILE with a libduckdb")
    }

    /// By the name of the module, `_duckdb.cpython-311-x86_64-linux-gnu.so`; without a version the newest first.
    static func pythonLibraries(for path: String) -> [String] {
        let mark = "cpython-3"
        guard let place = path.ranges(of: mark).last else {
            return (9...15).reversed().map { "libpython3.\($0).so.1.0" }
        }
        return ["libpython3.\(path[place.upperBound...].prefix { $0.isNumber }).so.1.0"]
    }
}
