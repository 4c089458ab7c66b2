import Files
import Harness
import Measuring
import Platform

/// The most that a process which plays a script uses of each limited resource, beyond its use before. Measured
/// after each step: a use that ends within a step is not seen.
struct ScriptNeeds {
    enum Kind: String, CaseIterable {
        case descriptors, threads
        /// Bytes.
        case addressSpace = "address-space"
        /// Bytes of the largest file.
        case fileSize = "file-size"
        /// Bytes that the files take on the disk.
        case disk
    }

    /// More descriptors than any engine uses here.
    private static let mostDescriptors: Int32 = 1_024

    private let directory: String
    private let start: [Kind: Int]
    private var most: [Kind: Int] = [:]

    init(_ location: DatabaseLocation) {
        directory = location.directory
        start = [
            .descriptors: Self.openDescriptors, .threads: ForkedChild.threadCount(),
            .addressSpace: Self.addressSpace("VmSize"),
        ]
    }

    mutating func look() {
        note(.descriptors, Self.openDescriptors)
        note(.threads, ForkedChild.threadCount())
        note(.addressSpace, Self.addressSpace("VmPeak"))
        let files = Self.files(in: directory)
        note(.fileSize, files.map(\.size).max() ?? 0)
        note(.disk, files.map(\.taken).reduce(0, +))
    }

    private mutating func note(_ kind: Kind, _ value: Int) {
        most[kind] = max(most[kind] ?? 0, value - (start[kind] ?? 0))
    }

    /// As report lines of the process.
    var events: [ScriptEvent] { Kind.allCases.map { .counted($0.rawValue, most[$0] ?? 0) } }

    private static var openDescriptors: Int { (0..<mostDescriptors).count { fcntl($0, F_GETFD) >= 0 } }

    /// Bytes.
    static func addressSpace(_ field: String) -> Int {
        ProcessFile.fields("/proc/self/status").first { $0.name == field }.map { Int($0.value) << 10 } ?? 0
    }

    /// Size and disk use of each file below the directory. A file that is removed meanwhile has none.
    private static func files(in directory: String) -> [(size: Int, taken: Int)] {
        let names: [String]
        do { names = try FileTree.names(in: directory) } catch { return [] }
        return names.flatMap { name -> [(size: Int, taken: Int)] in
            let path = directory + "/" + name
            if FileTree.isDirectory(path) { return files(in: path) }
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [(Int(status.st_size), Int(status.st_blocks) * 512)]
        }
    }
}
