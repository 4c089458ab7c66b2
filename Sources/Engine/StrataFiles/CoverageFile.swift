#if Zoo
    import Platform

    /// A file, named by the environment, in which the processes of a campaign note the coverage marks that they hit, a
    /// line per mark and process, so that the campaign can list those that no process hit.
    package enum CoverageFile {
        package static let variable = "ASSAY_COVERAGE_MARKS"

        /// Errors are dropped: a campaign whose I/O calls fail on purpose must not see those of this file.
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
