#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Bytes of memory that this process had resident at most.
///
/// On Linux, from `VmHWM`: `ru_maxrss` outlives `exec`, so that a child of a large test process begins with the
/// parent's peak.
enum PeakMemory {
    static func bytes() -> Int {
        #if canImport(Darwin)
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #else
            guard let status = fopen("/proc/self/status", "r") else { return 0 }
            defer { fclose(status) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, Int32(line.count), status) != nil {
                let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                    .split(whereSeparator: \.isWhitespace)
                if words.first == "VmHWM:", words.count > 1, let kibibytes = Int(words[1]) { return kibibytes << 10 }
            }
            return 0
        #endif
    }
}
