import Files
import Measuring
import Platform
import Synchronization

/// A shared library that is loaded in this process.
package struct LoadedLibrary: Sendable, Equatable {
    /// Absolute, with symbolic links resolved.
    package var path: String
    /// What its file says to the loader; nil if it is not an ELF file, as on other systems.
    package var object: SharedObject?

    /// The last part of its path: `librocksdb.so.7.8.3`.
    package var fileName: String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    private static let known = Mutex<[String: LoadedLibrary?]>([:])

    /// The library that exports the function in this process; nil if none does. Looked up once.
    package static func of(function: String) -> LoadedLibrary? {
        known.withLock { known in
            if let library = known[function] { return library }
            let library = find(function)
            known[function] = library
            return library
        }
    }

    private static func find(_ function: String) -> LoadedLibrary? {
        // `dladdr`, which Swift's module of the C library does not have, fills in four pointers, the name of the file
        // first.
        typealias Look = @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<UnsafePointer<CChar>?>) -> Int32
        var information = [UnsafePointer<CChar>?](repeating: nil, count: 4)
        // The address is the one to which the loader bound the program's own calls of the function.
        guard let look = LoadedSymbols.function("dladdr", as: Look.self),
            let address = dlsym(LoadedSymbols.everywhere, function), look(address, &information) != 0,
            let name = information[0]
        else { return nil }
        return LoadedLibrary(file: String(cString: name))
    }

    package init(file: String) {
        path = FileTree.absolute(file) ?? file
        object = SharedObject(path: path)
    }

    // MARK: Assertions

    /// Libraries of the language and the system. Their assertions do not count, since every program has these
    /// libraries.
    private static let runtimes = ["libstdc++", "libc++", "libgcc_s", "libc.", "libm.", "libpthread", "libdl", "ld-"]

    /// The names of library files that are built with assertions: of the file at the path, and of the libraries that it
    /// needs directly, as they are loaded in this process.
    package static func asserting(_ path: String) -> [String] {
        let own = LoadedLibrary(file: path)
        var names = own.object?.hasAssertions == true ? [own.fileName] : []
        let needed = (own.object?.needed ?? []).filter { name in !runtimes.contains { name.hasPrefix($0) } }
        if needed.isEmpty { return names }
        for library in mapped where library.object?.hasAssertions == true {
            guard let name = library.object?.name, needed.contains(name) || needed.contains(library.fileName) else {
                continue
            }
            names.append(library.fileName)
        }
        return names
    }

    /// The shared libraries that are loaded in this process.
    private static var mapped: [LoadedLibrary] {
        let lines = ProcessFile.text("/proc/self/maps").split(separator: "\n")
        var paths: [String] = []
        for line in lines where line.contains(".so") {
            guard let start = line.firstIndex(of: "/") else { continue }
            let path = String(line[start...])
            if !paths.contains(path) { paths.append(path) }
        }
        return paths.map { LoadedLibrary(file: $0) }
    }
}
