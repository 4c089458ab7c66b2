import JSONText

/// `.assay-run`: marks a directory that Assay made, for a run or for temporary files, and lists the entries that it
/// created there.
///
/// Assay removes and overwrites no other entry.
package struct DirectoryMarker: JSONRecord, Hashable {
    package static let file = ".assay-run"
    package static let lockFile = ".assay-lock"
    static let format = "assay-directory/1"

    /// The run of the directory; empty for a directory of temporary files.
    package var runID: String
    /// Paths below the directory: `run.json`, `work/assay-scratch-9f3c..`. Assay lists each before it makes it.
    package var entries: Set<String>
    /// The options of the run by name, as the user gave them: `--resume` compares the new ones with them.
    package var options: [String: [String]]

    package init(runID: String, entries: Set<String>, options: [String: [String]] = [:]) {
        self.runID = runID
        self.entries = entries
        self.options = options
    }

    package static let blank = DirectoryMarker(runID: "", entries: [])

    /// Older markers have no options.
    package static let fields: [JSONField<DirectoryMarker>] = [
        .constant("format", format), .member("run", \.runID), .lenient("options", \.options),
        JSONField("entries", write: { .strings($0.entries.sorted()) }) { (json, marker) throws(JSONShapeError) in
            marker.entries = Set(try [String](json: json ?? .null))
        },
    ]

    package static func exists(in directory: String) -> Bool {
        FileTree.kind(directory + "/" + file) == .file
    }

    /// Throws: `DirectoryClaimError` if the file has another format.
    package static func read(from directory: String) throws -> DirectoryMarker {
        let path = directory + "/" + file
        guard FileTree.kind(path) == .file else {
            throw DirectoryClaimError(
                "\(directory) was not made by assay run: there is no \(file) in it. Name the directory of a run")
        }
        do {
            return try DirectoryMarker(document: try FileTree.readBytes(path), named: file)
        } catch {
            throw DirectoryClaimError("\(path) cannot be read (\(error)): nothing in \(directory) is touched")
        }
    }

    package func write(to directory: String) throws {
        try FileTree.replaceText(directory + "/" + Self.file, json.text + "\n")
    }

    /// Throws if a listed entry is now a symbolic link: another program has replaced it.
    package func refuseLinks(in directory: String) throws(DirectoryClaimError) {
        for entry in (entries.union(["work"])).sorted() {
            var path = directory
            for part in entry.split(separator: "/") {
                path += "/" + part
                guard FileTree.kind(path) == .link else { continue }
                throw DirectoryClaimError(
                    "\(path) is a symbolic link, which no run makes, and is not followed. "
                        + "Remove it, or name another --out"
                )
            }
        }
    }
}

/// This process cannot use a directory, and has changed none of its entries; the message has the remedy.
package struct DirectoryClaimError: Error, CustomStringConvertible {
    package let description: String
    /// Whether another process uses the directory: it can be used when that process has ended.
    package let isInUse: Bool

    package init(_ description: String, isInUse: Bool = false) {
        self.description = description
        self.isInUse = isInUse
    }
}
