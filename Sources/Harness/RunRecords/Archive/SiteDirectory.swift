import Files
import JSONText

/// A directory for rendered pages. It is accepted only if it is empty or has the marker of an earlier site, and only
/// the pages that the marker lists are ever changed.
package struct SiteDirectory: Sendable {
    package static let format = "assay-site/1"
    static let marker = ".assay-site"

    package let path: String
    /// The pages of the earlier site.
    private let earlier: [String]

    /// Checks the directory, and changes nothing.
    package init(_ path: String) throws(RecordingError) {
        self.path = path
        do {
            switch FileTree.kind(path) {
            case nil:
                earlier = []
                return
            case .directory: break
            case .file, .link, .other: throw RecordingError("\(path) is no directory: name another")
            }
            let names = try FileTree.names(in: path)
            guard names.contains(Self.marker) else {
                guard names.isEmpty else {
                    throw RecordingError(
                        "\(path) is not empty, and no site of assay (there is no \(Self.marker)): it was left as it "
                            + "is; name an empty directory, or one that does not exist")
                }
                earlier = []
                return
            }
            earlier = try Self.pages(in: try FileTree.readBytes(path + "/" + Self.marker))
        } catch let error as RecordingError {
            throw error
        } catch {
            throw RecordingError("\(path) cannot be used (\(error)): name another directory")
        }
    }

    /// Refuses a name with a slash, or with the ending of another kind of file: no page has such a name.
    private static func pages(in bytes: [UInt8]) throws -> [String] {
        let json = try JSONObjectReader(try JSONReader.read(bytes), path: marker)
        guard try json.string("format") == format else {
            throw JSONShapeError(path: marker + ".format", expected: format)
        }
        let names = try json.strings("pages")
        guard names.allSatisfy({ $0.hasSuffix(".html") && !$0.hasPrefix(".") && !$0.contains("/") }) else {
            throw JSONShapeError(path: marker + ".pages", expected: "names of pages")
        }
        return names
    }

    /// Writes the pages, and removes earlier ones that are not among them. The marker is written first, so that the
    /// directory is recognised if the write is interrupted.
    package func write(_ pages: [(name: String, text: String)]) throws(RecordingError) {
        do {
            let names = pages.map(\.name)
            for name in names where !earlier.contains(name) && FileTree.kind(path + "/" + name) != nil {
                throw RecordingError("\(path)/\(name) is not of this site, and was left as it is: move it away")
            }
            try FileTree.createDirectory(path)
            try mark(earlier.filter { !names.contains($0) } + names)
            for (name, text) in pages { try FileTree.replaceText(path + "/" + name, text) }
            for name in earlier where !names.contains(name) { try FileTree.remove(path + "/" + name) }
            try mark(names)
        } catch let error as RecordingError {
            throw error
        } catch {
            throw RecordingError("\(error)")
        }
    }

    private func mark(_ names: [String]) throws(FileTreeError) {
        let json = JSONValue.object([
            JSONMember("format", .string(Self.format)), JSONMember("pages", .strings(names)),
        ])
        try FileTree.replaceText(path + "/" + Self.marker, json.text + "\n")
    }
}
