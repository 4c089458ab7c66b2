import Files
import RunRecords
import Seeds

/// The packages of a Debian or Ubuntu machine, as `DebianPackage(name, version, section, installedSize, description,
/// depends)`: real text lengths, and a real graph with cycles.
///
/// Read from dpkg's status file, or from any file of that format: a distribution's package index has 64 000. A package
/// with several architectures keeps its name once; the others are `name:architecture`. Of alternative dependencies
/// (`a | b`) the first existing one counts. Rows that are left out are listed with their lines: packages that are
/// broken or not installed, and dependencies on packages that the file lacks.
package struct DebianDataset: DatasetSource {
    package static let statusFile = "/var/lib/dpkg/status"

    package let name: String
    private let path: String

    package init(name: String = "dpkg", path: String = DebianDataset.statusFile) {
        self.name = name
        self.path = path
    }

    package var summary: String { "the packages in \(path), with their dependencies as links" }
    package var defaultSize: Int? { nil }

    package var unavailableReason: String? {
        if FileTree.exists(path) { return nil }
        let reason = path == Self.statusFile ? ": this is no Debian or Ubuntu machine" : ""
        return "\(name): \(path) is not there\(reason); give a file of that format with --dataset FILE"
    }

    /// Throws: `DatasetError` when the file is missing, or has no package.
    package func tables(size: Int?, seed: Seed) throws -> TableSet {
        if let unavailableReason { throw DatasetError(unavailableReason) }
        let bytes: [UInt8]
        do {
            bytes = try FileTree.readBytes(path)
        } catch {
            throw DatasetError("\(name): \(error)")
        }
        return try Self.tables(ofControlFile: bytes, dataset: name, limit: size)
    }

    /// `limit`: the first packages only.
    static func tables(ofControlFile bytes: [UInt8], dataset: String, limit: Int? = nil) throws -> TableSet {
        var reading = Reading()
        for paragraph in ControlFile(bytes).paragraphs {
            if let limit, reading.packages.count >= limit { break }
            reading.add(paragraph)
        }
        guard !reading.packages.isEmpty else {
            let first = reading.rejected.first.map { ": " + $0 } ?? ""
            throw DatasetError("\(dataset): the file has no package\(first)")
        }
        let table = reading.table()
        return TableSet(dataset: dataset, content: [table], isComparable: false, rejected: reading.rejected)
    }
}

/// Packages read so far, in the order of the file.
private struct Reading {
    struct Package {
        var name: String
        var version: String
        var section: String
        var installedSize: Int64
        var description: String
        var depends: String
        var line: Int
    }

    var packages: [Package] = []
    var rejected: [String] = []
    private var rowsByName: [String: Int32] = [:]

    mutating func add(_ paragraph: ControlFile.Paragraph) {
        do throws(Rejection) {
            let package = try Self.package(paragraph, isTaken: { rowsByName[$0] != nil })
            rowsByName[package.name] = Int32(packages.count)
            packages.append(package)
        } catch {
            rejected.append(error.reason)
        }
    }

    struct Rejection: Error {
        var reason: String
    }

    private static func package(
        _ paragraph: ControlFile.Paragraph, isTaken: (String) -> Bool
    ) throws(Rejection) -> Package {
        let line = paragraph.line
        if let problem = paragraph.problem { throw Rejection(reason: problem) }
        guard let plainName = paragraph["package"], !plainName.isEmpty else {
            throw Rejection(reason: "line \(line): no package name")
        }
        let state = paragraph["status"]?.split(separator: " ").last
        if let state, state == "not-installed" || state == "config-files" {
            throw Rejection(reason: "line \(line): \(plainName) is not installed (\(state))")
        }
        guard let version = paragraph["version"], !version.isEmpty else {
            throw Rejection(reason: "line \(line): \(plainName) has no version")
        }
        var installedSize: Int64 = 0
        if let field = paragraph.fields["installed-size"] {
            guard let size = Int64(field.value), size >= 0 else {
                throw Rejection(reason: "line \(field.line): \(plainName): the size \"\(field.value)\" is no number")
            }
            installedSize = size
        }
        var name = plainName
        if isTaken(name), let architecture = paragraph["architecture"] { name += ":" + architecture }
        if isTaken(name) { throw Rejection(reason: "line \(line): \(name) stands there twice") }
        return Package(
            name: name, version: version, section: paragraph["section"] ?? "", installedSize: installedSize,
            description: paragraph["description"] ?? "", depends: paragraph["depends"] ?? "",
            line: paragraph.fields["depends"]?.line ?? line)
    }

    /// Names of the alternatives of every dependency: `a (>= 1) | b:any, c` gives [[a, b], [c]].
    private static func dependencies(_ text: String) -> [[String]] {
        text.split(separator: ",").map { alternatives in
            alternatives.split(separator: "|").map { alternative in
                let end = alternative.drop { $0.isWhitespace }
                return String(end.prefix { !$0.isWhitespace && $0 != "(" && $0 != ":" && $0 != "[" && $0 != "<" })
            }
        }
    }

    mutating func table() -> Table {
        var names = TextColumn()
        var versions = TextColumn()
        var sections = TextColumn()
        var descriptions = TextColumn()
        var depends = LinkListColumn()
        for package in packages {
            names.append(package.name)
            versions.append(package.version)
            sections.append(package.section)
            descriptions.append(package.description)
            var links: [Int32] = []
            for alternatives in Self.dependencies(package.depends) where alternatives != [""] {
                if let name = alternatives.first(where: { rowsByName[$0] != nil }), let row = rowsByName[name] {
                    links.append(row)
                } else {
                    let wanted = alternatives.joined(separator: " | ")
                    rejected.append("line \(package.line): \(package.name) depends on \(wanted), which is not there")
                }
            }
            depends.append(links)
        }
        return Table(
            name: "DebianPackage", key: "name",
            columns: [
                Column("name", .text(names)),
                Column("version", .text(versions)),
                Column("section", .text(sections)),
                Column("installedSize", .integer(packages.map(\.installedSize))),
                Column("description", .text(descriptions)),
                Column("depends", .links(target: "DebianPackage", depends)),
            ])
    }
}
