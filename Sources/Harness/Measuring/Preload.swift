import Platform

/// Where the preloaded library is, and how a child is made to run under it.
package enum Preload {
    /// The environment variable that names the libraries to load before all others.
    package static let variable = "LD_PRELOAD"
    package static let libraryName = "libAssayPreload.so"

    /// The path of the library that was built beside an executable. nil if there is none, or its path has spaces or
    /// colons, which separate names for the loader. nil under the thread sanitizer, too, whose own library must be the
    /// first to intercept calls.
    package static func library(besides executable: String) -> String? {
        #if canImport(Glibc)
            let isSanitized = dlsym(LoadedSymbols.everywhere, "__tsan_init") != nil
            guard !isSanitized, let resolved = realpath(executable, nil) else { return nil }
            defer { free(resolved) }
            let path = String(cString: resolved)
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
            let library = path[..<slash] + "/" + libraryName
            guard !library.utf8.contains(where: isSeparator), access(String(library), R_OK) == 0 else { return nil }
            return String(library)
        #else
            return nil
        #endif
    }

    /// The value of the variable with the library added. The library follows those that the value already names: it is
    /// then nearest to libc, and sees the calls that the other libraries pass on.
    package static func environment(adding library: String, to existing: [UInt8]) -> [UInt8] {
        let own = Array(library.utf8)
        let kept = existing.split(whereSeparator: isSeparator).filter { !$0.elementsEqual(own) }
        return Array((kept + [own[...]]).joined(separator: [UInt8(ascii: ":")]))
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: " ")
    }
}
