// The C library of the system, under one name: a file writes `import Platform`, and `Platform.read` where another
// `read` hides that of the C library. No other room imports Glibc, Musl or Darwin: Tests/Architecture checks that.
//
// Platform exports its import. With a plain import, each file that calls the C library would have to import the
// system's module as well, and so to choose one. Platform declares the differences between the systems that several
// rooms meet; a room declares those that it alone meets.
#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#else
    @_exported import Darwin
#endif
