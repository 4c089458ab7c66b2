#if Zoo
    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Where processes of a campaign note which rarely taken branches they took, so that those can be named that none
    /// of them did: a line per branch and process, in a file that the environment names.
    package enum CoverageFile {
        package static let variable = "ASSAY_COVERAGE_MARKS"

        /// Nothing is said of an error: a campaign that fails calls of this process is not to be told of this one.
        package static func note(_ name: String) {
            guard let path = getenv(variable) else { return }
            let error = errno
            defer { errno = error }
            let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let line = Array((name + "\n").utf8)
            _ = write(descriptor, line, line.count)
        }
    }
#endif
