import Platform

/// The functions of the preloaded library, libAssayPreload.so, for a program that runs under it.
///
/// They are found by name, and the library is not linked: a program that linked it would always run under it.
/// `assay_preload.h` of CAssayPreload defines what the library counts, what it does not see, and how it judges commits.
@usableFromInline
package struct IOWitness: Sendable {
    /// What `beginCommit` remembers for `endCommit`.
    package struct CommitMark: Sendable {
        fileprivate var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    }

    typealias Version = @convention(c) () -> Int32
    typealias SetText = @convention(c) (UnsafePointer<CChar>?) -> Void
    typealias Snapshot = @convention(c) (UnsafeMutableRawPointer) -> Void
    typealias FieldCount = @convention(c) () -> Int
    typealias FieldName = @convention(c) (Int) -> UnsafePointer<CChar>?
    typealias SetDelays = @convention(c) (UInt64, UInt64) -> Void
    typealias Begin = @convention(c) (UnsafeMutableRawPointer) -> Void
    typealias End = @convention(c) (UnsafeMutableRawPointer) -> Int32
    typealias Own = @convention(c) () -> Int32
    typealias SetFault = @convention(c) (UnsafePointer<CChar>?) -> Int32
    typealias FaultCount = @convention(c) (UnsafePointer<CChar>?) -> UInt64

    let setRootFunction: SetText
    let setLogNamesFunction: SetText
    let setIgnoredNamesFunction: SetText
    let snapshotFunction: Snapshot
    let setDelaysFunction: SetDelays
    let beginFunction: Begin
    let endFunction: End
    let ownFunction: Own
    let setFaultFunction: SetFault
    let faultCountFunction: FaultCount

    /// nil if the library was not preloaded, or is of another version than this code.
    package static let shared: IOWitness? = find()

    private static let version: Int32 = 2

    private static func find() -> IOWitness? {
        guard let version = LoadedSymbols.function("assay_io_version", as: Version.self), version() == Self.version,
            let fieldCount = LoadedSymbols.function("assay_io_field_count", as: FieldCount.self),
            let fieldName = LoadedSymbols.function("assay_io_field_name", as: FieldName.self),
            let setRoot = LoadedSymbols.function("assay_io_set_root", as: SetText.self),
            let setLogNames = LoadedSymbols.function("assay_io_set_log_names", as: SetText.self),
            let setIgnoredNames = LoadedSymbols.function("assay_io_set_ignored_names", as: SetText.self),
            let snapshot = LoadedSymbols.function("assay_io_snapshot", as: Snapshot.self),
            let setDelays = LoadedSymbols.function("assay_io_set_delays", as: SetDelays.self),
            let begin = LoadedSymbols.function("assay_commit_begin", as: Begin.self),
            let end = LoadedSymbols.function("assay_commit_end", as: End.self),
            let own = LoadedSymbols.function("assay_commit_own", as: Own.self),
            let setFault = LoadedSymbols.function("assay_io_set_fault", as: SetFault.self),
            let faultCount = LoadedSymbols.function("assay_io_fault_count", as: FaultCount.self)
        else { return nil }
        let names = (0..<fieldCount()).map { index in fieldName(index).map { String(cString: $0) } }
        guard names == IOCounts.fields.map(\.name) else { return nil }
        return IOWitness(
            setRootFunction: setRoot, setLogNamesFunction: setLogNames, setIgnoredNamesFunction: setIgnoredNames,
            snapshotFunction: snapshot, setDelaysFunction: setDelays, beginFunction: begin, endFunction: end,
            ownFunction: own, setFaultFunction: setFault, faultCountFunction: faultCount)
    }

    /// Watches files below these directories only; an empty list ends it. No other thread may work on files during the
    /// call.
    ///
    /// - Returns: false, and nothing is changed, if a path is not absolute or contains a colon, which separates paths.
    package func setRoot(_ directories: [String]) -> Bool {
        guard directories.allSatisfy({ $0.utf8.first == UInt8(ascii: "/") }) else { return false }
        return Self.pass(directories, to: setRootFunction)
    }

    /// Sets patterns of `*` and `?` for the base names of logs, which `endCommit` judges by.
    package func setLogNames(_ patterns: [String]) -> Bool { Self.pass(patterns, to: setLogNamesFunction) }

    /// Sets patterns for the base names of files to ignore: locks and shared memory.
    package func setIgnoredNames(_ patterns: [String]) -> Bool { Self.pass(patterns, to: setIgnoredNamesFunction) }

    /// Makes each call that waits for the device, and each other write, take at least so much longer; 0 for none.
    package func setDelays(syncNanoseconds: UInt64, writeNanoseconds: UInt64) {
        setDelaysFunction(syncNanoseconds, writeNanoseconds)
    }

    /// Makes a file call of this process fail, and counts calls from now on; nil lifts the fault. Children that are
    /// forked later share the count.
    ///
    /// - Returns: false, and nothing is changed, if the library does not know the words.
    package func setFault(_ words: String?) -> Bool { setFaultFunction(words) == 0 }

    /// The calls of one kind since the first `setFault`, or another count of `assay_io_fault_count`, such as `struck`.
    package func faultCount(_ kind: String) -> Int { Int(clamping: faultCountFunction(kind)) }

    private static func pass(_ words: [String], to function: SetText) -> Bool {
        guard words.allSatisfy({ !$0.utf8.contains(UInt8(ascii: ":")) }) else { return false }
        function(words.joined(separator: ":"))
        return true
    }

    package func counts() -> IOCounts {
        var words = [UInt64](repeating: 0, count: IOCounts.fields.count)
        words.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { snapshotFunction(base) }
        }
        return IOCounts(words: words)
    }

    /// The caller calls it before an operation that the engine acknowledges as durable, on the thread of the operation.
    /// Calls do not nest.
    package func beginCommit() -> CommitMark {
        var commit = CommitMark()
        withUnsafeMutableBytes(of: &commit.words) { bytes in
            if let base = bytes.baseAddress { beginFunction(base) }
        }
        return commit
    }

    /// The answer for this thread's own writes alone, after `endCommit`.
    package func ownCommit() -> CommitAnswer { CommitAnswer(rawValue: ownFunction()) ?? .unsynced }

    /// The caller calls it after the acknowledgement, on the same thread.
    package func endCommit(_ commit: CommitMark) -> CommitAnswer {
        var words = commit.words
        let answer = withUnsafeMutableBytes(of: &words) { bytes in bytes.baseAddress.map { endFunction($0) } }
        // An unknown number does not prove a sync.
        return answer.flatMap { CommitAnswer(rawValue: $0) } ?? .unsynced
    }
}
