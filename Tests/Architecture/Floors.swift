/// The floors of a room, which is a target: its folders, each of which uses only the folders below it.
///
/// A room has floors, and is not divided into targets, if module boundaries would prevent inlining in every read of the
/// database, or if its folders are parts of one job. The compiler does not enforce floors, so this test does: no file
/// of a lower folder names a top-level declaration of a higher one (type, function, constant), and none uses a member
/// that a higher floor adds to a lower floor's type by an extension (``FloorMembers``).
struct Floors {
    /// The path of the target from the root of the checkout, with a slash at the end.
    let room: String
    /// The floors, from the lowest to the highest. An empty name means the files in the room's own folder.
    let folders: [String]
    /// Reasons for which the files of a folder may name a declaration of a higher one, by `Folder: Name`, or use a
    /// member that a higher one adds, by `Folder: Type.member`.
    let exceptions: [String: String]

    /// Every room that has floors.
    static let all = [storage, objects, runRecords, harness, reporting, programTrials, scenarios]

    static let storage = Floors(
        room: "Sources/Engine/StrataStorage/",
        folders: [
            "Format", "Pages", "Log", "Processes", "Rows", "Entries", "Collections", "Versions", "Writing", "Store",
        ],
        exceptions: [:])

    /// A parsed file of the room.
    struct File {
        let path: String
        let floor: Int
        let declarations: Declarations
    }

    func folder(of path: String) -> String? {
        guard path.hasPrefix(room) else { return nil }
        let parts = path.dropFirst(room.count).split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : ""
    }

    func read(_ files: [(path: String, source: SwiftSource)]) -> [File] {
        files.compactMap { path, source in
            guard let folder = folder(of: path) else { return nil }
            return File(
                path: path, floor: folders.firstIndex(of: folder) ?? folders.count,
                declarations: Declarations(source))
        }
    }

    /// Finds references to higher floors.
    /// - Returns: the violations; and the exceptions that allowed a reference, each with the number of such files.
    func violations(in files: [File]) -> (found: [Violation], used: [String: Int]) {
        var found: [Violation] = []
        var used: [String: Int] = [:]
        for file in files where file.floor == folders.count {
            found.append(Violation(path: file.path, rule: "stands on no floor of \(room)"))
        }
        let floors = declared(in: files)
        let members = FloorMembers(files, types: floors)
        let inner = Dictionary(grouping: files.flatMap(\.declarations.nested), by: \.name)
            .mapValues { Set($0.map(\.outer)) }
        for file in files where file.floor < folders.count {
            let own = Set(file.declarations.outer.map(\.name))
            for (name, line) in file.declarations.identifiers.sorted(by: { $0.value < $1.value }) {
                let name = String(name)
                guard let floor = floors[name], floor > file.floor else { continue }
                // The name means another declaration: one of this file, or one nested in a type of this file.
                if file.declarations.outer.contains(where: { $0.name == name && $0.kind != .extensionOfType }) {
                    continue
                }
                if let outer = inner[name], !outer.isDisjoint(with: own) { continue }
                note(name, at: floor, line, "stands above, in")
            }
            for use in members.uses(in: file) { note(use.member, at: use.floor, use.line, "is added above, in") }
            func note(_ name: String, at floor: Int, _ line: Int, _ how: String) {
                let exception = "\(folders[file.floor]): \(name)"
                if exceptions[exception] != nil {
                    used[exception, default: 0] += 1
                } else {
                    let upper = floor < folders.count ? folders[floor] : "no floor"
                    found.append(
                        Violation(path: file.path, line: line, rule: "\(exception), which \(how) \(upper)"))
                }
            }
        }
        return (found, used)
    }

    /// Names of members that the search would report in these files if it did not pass over any name.
    func membersOfAnyName(in files: [File]) -> Set<String> {
        let members = FloorMembers(files, types: declared(in: files), ambiguous: [])
        let uses = files.filter { $0.floor < folders.count }.flatMap(members.uses)
        return Set(uses.compactMap { use in use.member.split(separator: ".").last.map(String.init) })
    }

    /// The lowest floor with a non-private declaration of a name.
    private func declared(in files: [File]) -> [String: Int] {
        var floors: [String: Int] = [:]
        for file in files {
            for outer in file.declarations.outer where outer.kind != .extensionOfType && !outer.isPrivate {
                floors[outer.name] = min(floors[outer.name] ?? .max, file.floor)
            }
        }
        return floors
    }
}
