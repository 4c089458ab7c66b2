import JSONText

/// `.assay-run`: marks a directory that Assay made, for a run or for temporary files, and lists the entries that it
/// created there.
///
/// No other entry is ever removed or overwritten.
package struct DirectoryMarker: Hashable, Sendable {
    package static let file = ".assay-run"
    package static let lockFile = ".assay-lock"
    static let format = "assay-directory/1"

    /// Empty for a directory that is not of a run.
    package var runID: String
    /// Paths below the directory: `run.json`, `work/assay-scratch-9f3c..`. Each is listed before it is created.
    package var entries: Set<String>
    /// The options of the run by name, as the user gave them: `--resume` compares the new ones with them.
    package var options: [String: [String]]

    package init(runID: String, entries: Set<String>, options: [String: [String]] = [:]) {
        self.runID = runID
        self.entries = entries
        self.options = options
    }

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
            let reader = try JSONObjectReader(try JSONReader.read(try FileTree.readBytes(path)), path: file)
            guard try reader.string("format") == format else {
                throw JSONShapeError(path: "\(file).format", expected: format)
            }
            var options: [String: [String]] = [:]
            if case .object(let members)? = reader.value["options"] {
                let values = try reader.object("options")
                for member in members { options[member.name] = try texts(values, member.name) }
            }
            return DirectoryMarker(
                runID: try reader.string("run"), entries: Set(try texts(reader, "entries")), options: options)
        } catch {
            throw DirectoryClaimError("\(path) cannot be read (\(error)): nothing in \(directory) is touched")
        }
    }

    private static func texts(_ reader: JSONObjectReader, _ name: String) throws -> [String] {
        var list: [String] = []
        for element in try reader.array(name) {
            guard case .string(let text) = element else {
                throw JSONShapeError(path: "\(file).\(name)", expected: "strings")
            }
            list.append(text)
        }
        return list
    }

    package func write(to directory: String) throws {
        let names = options.keys.sorted()
        let json = JSONValue.object([
            JSONMember("format", .string(Self.format)), JSONMember("run", .string(runID)),
            JSONMember("options", .object(names.map { JSONMember($0, .strings(options[$0] ?? [])) })),
            JSONMember("entries", .strings(entries.sorted())),
        ])
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

/// A directory cannot be used, and nothing in it was changed; the message has the remedy.
package struct DirectoryClaimError: Error, CustomStringConvertible {
    package let description: String
    /// Whether another process uses the directory: it can be used when that process has ended.
    package let isInUse: Bool

    package init(_ description: String, isInUse: Bool = false) {
        self.description = description
        self.isInUse = isInUse
    }
}
