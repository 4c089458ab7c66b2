import Platform

/// A program of this package; one command builds it together with the test bundle.
enum BuiltProgram {
    /// Its path beside the test bundle; nil if it is not there.
    static func path(_ name: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for word in [own] + CommandLine.arguments {
            guard let range = word.firstRange(of: ".xctest") else { continue }
            let bundle = word[..<range.lowerBound]
            guard let slash = bundle.lastIndex(of: "/") else { continue }
            let candidate = bundle[..<slash] + "/" + name
            if access(String(candidate), X_OK) == 0 { return String(candidate) }
        }
        return nil
    }
}
