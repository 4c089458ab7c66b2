import Files
import JSONText
import Seeds

/// `sums.json`: a hash of every raw file of a shard's run, made when the run ended. The files are copied between
/// machines before a merge, and a digit that was corrupted on the way would look like any other figure.
package struct RecordSums: JSONRecord, Hashable {
    static let file = "sums.json"
    static let format = "assay-sums/1"

    package static let blank = RecordSums([:])
    package static let fields: [JSONField<RecordSums>] = [.constant("format", format), .member("files", \.sums)]

    /// By the path of the file below the directory.
    private var sums: [String: String]

    /// The sums of the files as they are now.
    package init(of directory: RunDirectory) throws(FileTreeError) {
        var sums: [String: String] = [:]
        for path in try Self.paths(directory) {
            sums[path] = String(StableHash.of(try FileTree.readBytes(directory.path + "/" + path)), radix: 16)
        }
        self.sums = sums
    }

    private init(_ sums: [String: String]) {
        self.sums = sums
    }

    /// The files that results are read from. Rendered files are left out.
    private static func paths(_ directory: RunDirectory) throws(FileTreeError) -> [String] {
        var paths = ["run.json", "cases.json", "results.jsonl"].filter { FileTree.exists(directory.path + "/" + $0) }
        for folder in ["series", "trials"] where FileTree.isDirectory(directory.path + "/" + folder) {
            paths += try FileTree.names(in: directory.path + "/" + folder).map { folder + "/" + $0 }
        }
        return paths
    }

    package func write(to directory: RunDirectory) throws {
        try RunClaim.write(json.text + "\n", to: Self.file, in: directory.path)
    }

    /// nil if the run has not ended.
    package static func read(from directory: RunDirectory) throws -> RecordSums? {
        let path = directory.path + "/" + file
        guard FileTree.exists(path) else { return nil }
        return try RecordSums(document: try FileTree.readBytes(path), named: file)
    }

    /// The files that changed, appeared or disappeared, ascending.
    package func differences(from other: RecordSums) -> [String] {
        Set(sums.keys).union(other.sums.keys).filter { sums[$0] != other.sums[$0] }.sorted()
    }
}
