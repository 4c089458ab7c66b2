import Platform

/// Settings of tests from the environment.
enum TestSettings {
    static func number(_ name: String) -> UInt64? {
        guard let text = getenv(name) else { return nil }
        return UInt64(String(cString: text))
    }

    /// Whether all seeds and trials run (TESTS_FULL=1), not only the selection of `make test`.
    static let isFull = getenv("TESTS_FULL") != nil

    /// Seeds from 1 on.
    /// - Parameters:
    ///   - few: how many run in `make test`.
    ///   - all: how many run with TESTS_FULL=1.
    static func seeds(_ few: UInt64, of all: UInt64) -> ClosedRange<UInt64> { 1...(isFull ? all : few) }

    /// How many trials a random sweep has: `few` in `make test`, `all` with TESTS_FULL=1.
    static func trials(_ few: Int, of all: Int) -> Int { isFull ? all : few }

    /// Writes to standard error unbuffered, so that the text survives the process's death.
    static func say(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}
