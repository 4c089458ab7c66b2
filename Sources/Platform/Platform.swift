// The C library of the system, under one name: `import Platform`, and `Platform.read` where another `read` is nearer.
// No other room imports Glibc, Musl or Darwin, which Tests/Architecture checks.
//
// The import is exported, because with a plain one each file that calls the C library would have to import the system's
// module as well, and so to choose. Differences between the systems that several rooms meet are declarations here; one
// that a single room meets stays there.
#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#else
    @_exported import Darwin
#endif
