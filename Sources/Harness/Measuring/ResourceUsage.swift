import Platform

/// Resources that this process has used so far. `since` gives the use in between; its peak is not a difference.
package struct ResourceUsage: Sendable, Equatable {
    /// The largest resident set since the process began, or since `resetPeak()` if the kernel supports it.
    package var peakResidentBytes: UInt64 = 0
    /// User and system time of all threads.
    package var processorNanoseconds: UInt64 = 0
    package var minorPageFaults: UInt64 = 0
    package var majorPageFaults: UInt64 = 0
    /// By read and write calls, also those that the page cache served. 0 without procfs.
    package var readBytes: UInt64 = 0
    package var writtenBytes: UInt64 = 0
    package var readSystemCalls: UInt64 = 0
    package var writeSystemCalls: UInt64 = 0

    package init() {}

    package var pageFaults: UInt64 { minorPageFaults + majorPageFaults }

    package static func now() -> ResourceUsage {
        var usage = ResourceUsage()
        var raw = rusage()
        // RUSAGE_SELF, which Glibc declares with another type than the parameter's.
        let wholeProcess: Int32 = 0
        getrusage(wholeProcess, &raw)
        usage.processorNanoseconds = nanoseconds(raw.ru_utime) + nanoseconds(raw.ru_stime)
        usage.minorPageFaults = UInt64(max(0, raw.ru_minflt))
        usage.majorPageFaults = UInt64(max(0, raw.ru_majflt))
        #if canImport(Glibc)
            usage.peakResidentBytes = UInt64(max(0, raw.ru_maxrss)) << 10
            usage.readProcessFiles()
        #else
            usage.peakResidentBytes = UInt64(max(0, raw.ru_maxrss))
        #endif
        return usage
    }

    /// The use from `start` to this. The peak is not subtracted.
    package func since(_ start: ResourceUsage) -> ResourceUsage {
        var difference = self
        difference.processorNanoseconds -= start.processorNanoseconds
        difference.minorPageFaults -= start.minorPageFaults
        difference.majorPageFaults -= start.majorPageFaults
        difference.readBytes -= start.readBytes
        difference.writtenBytes -= start.writtenBytes
        difference.readSystemCalls -= start.readSystemCalls
        difference.writeSystemCalls -= start.writeSystemCalls
        return difference
    }

    /// Resets the peak to the present resident set. Returns false if the kernel cannot.
    @discardableResult
    package static func resetPeak() -> Bool {
        #if canImport(Glibc)
            let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return write(descriptor, "5", 1) == 1
        #else
            return false
        #endif
    }

    private static func nanoseconds(_ time: timeval) -> UInt64 {
        UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_usec)) * 1_000
    }

    #if canImport(Glibc)
        private mutating func readProcessFiles() {
            for (name, value) in ProcessFile.fields("/proc/self/io") {
                switch name {
                case "rchar": readBytes = value
                case "wchar": writtenBytes = value
                case "syscr": readSystemCalls = value
                case "syscw": writeSystemCalls = value
                default: break
                }
            }
            for (name, value) in ProcessFile.fields("/proc/self/status") where name == "VmHWM" {
                // Unlike ru_maxrss, this one is reset by clear_refs.
                peakResidentBytes = value << 10
            }
        }
    #endif
}

/// Reads files of procfs; most of them have lines `name: number`.
package enum ProcessFile {
    /// The names with their numbers, without lines of another form. Empty if the file cannot be read.
    package static func fields(_ path: String) -> [(name: String, value: UInt64)] {
        var fields: [(name: String, value: UInt64)] = []
        for line in text(path).utf8.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let number = line[line.index(after: colon)...]
                .drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                .prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard let value = UInt64(String(decoding: number, as: UTF8.self)) else { continue }
            fields.append((String(decoding: line[..<colon], as: UTF8.self), value))
        }
        return fields
    }

    /// The anonymous resident bytes of a process: those of mapped files do not count. nil if the process has ended.
    package static func anonymousBytes(processID: Int32) -> UInt64? {
        fields("/proc/\(processID)/status").first { $0.name == "RssAnon" }.map { $0.value << 10 }
    }

    /// The nanoseconds during which the first thread of a process was ready but had no processor. 0 if the process has
    /// ended, or the kernel does not count them.
    package static func processorWait(processID: Int32) -> UInt64 {
        // The fields are the time on a processor, the time waiting for one, and the number of time slices.
        let fields = text("/proc/\(processID)/schedstat").split { $0 == " " || $0 == "\n" }
        return fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0
    }

    package static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }
}
