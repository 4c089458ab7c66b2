import Files
import Harness

/// Finds a DuckDB on the machine, if the command line names none.
package enum DuckDBSearch {
    /// Of the engine.
    package static let name = "duckdb"
    /// The command that installs one.
    package static let remedy = "pip install duckdb==2.0.1"
    /// The environment variable with the path of a library.
    package static let variable = "ASSAY_DUCKDB"

    /// The given file, else that of the environment variable, else that of an installed Python package, else a library
    /// of the system. nil where there is none.
    ///
    /// - Parameters:
    ///   - environment: a variable of the process by its name.
    ///   - names: the names of a directory's entries; empty if it does not exist.
    package static func find(
        environment: (String) -> String?, names: (String) -> [String] = DuckDBSearch.names
    ) -> String? {
        if let given = environment(variable), !given.isEmpty { return FileTree.absolute(given) ?? given }
        for directory in packages(environment, names) {
            if let module = module(in: directory, names) { return module }
        }
        return libraries.first(where: FileTree.exists)
    }

    private static let libraries = ["/usr/local/lib/libduckdb.so", "/usr/lib/libduckdb.so", "/usr/lib64/libduckdb.so"]

    package static func names(_ directory: String) -> [String] {
        guard FileTree.isDirectory(directory) else { return [] }
        do { return try FileTree.names(in: directory).sorted() } catch { return [] }
    }

    /// Directories of Python packages: those of an active virtual environment first.
    private static func packages(_ environment: (String) -> String?, _ names: (String) -> [String]) -> [String] {
        var roots: [String] = []
        if let active = environment("VIRTUAL_ENV") { roots.append(active) }
        if let prefix = environment("CONDA_PREFIX") { roots.append(prefix) }
        if let home = environment("HOME") { roots.append(home + "/.local") }
        roots += ["/usr/local", "/usr"]
        var places = (environment("PYTHONPATH") ?? "").split(separator: ":").map(String.init)
        for root in roots {
            let versions = names(root + "/lib").filter { $0.hasPrefix("python3") }
            for version in versions.sorted(by: { minor($0) > minor($1) }) {
                places += ["site-packages", "dist-packages"].map { "\(root)/lib/\(version)/\($0)" }
            }
        }
        return places.map { FileTree.absolute($0) ?? $0 }
    }

    /// 12 of `python3.12`: the newest Python comes first; as text 3.9 would be newer.
    private static func minor(_ name: String) -> Int { Int(name.dropFirst("python3.".count)) ?? 0 }

    /// Packages before 1.4 have their module in a folder and do not export the C interface: they are ignored.
    private static func module(in directory: String, _ names: (String) -> [String]) -> String? {
        names(directory).first { $0.hasPrefix("_duckdb.") && $0.hasSuffix(".so") }.map { "\(directory)/\($0)" }
    }
}
