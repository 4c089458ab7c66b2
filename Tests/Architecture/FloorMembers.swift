/// The members that files of a room add to types of lower floors, and their uses below.
///
/// The test knows names, not types. A use of a name counts if every declaration of it in the room stands above. So a
/// member is not seen whose name a lower floor declares as well, for whatever type; nor is an initializer.
struct FloorMembers {
    /// Names that types of other modules have, too: a use of one does not tell which declaration is meant.
    private static let ambiguous: Set<String> = [
        // Of the standard library.
        "add", "append", "filter", "flatMap", "isEmpty", "joined", "sorted", "where",
        // Of a module below the room.
        "changes", "deterministic", "element", "limit",
    ]

    private struct Added {
        /// The lowest floor that adds it.
        var floor: Int
        /// The types to which it is added.
        var types: Set<String>
    }

    private var added: [String: Added] = [:]

    /// - Parameter types: the lowest floor that declares a type.
    init(_ files: [Floors.File], types: [String: Int]) {
        var lowest: [String: Int] = [:]
        for file in files {
            for member in file.declarations.members where !Self.ambiguous.contains(member.name) {
                let type = String(member.outer.prefix { $0 != "." })
                guard member.isAdded, let floor = types[type], floor < file.floor else {
                    lowest[member.name] = min(lowest[member.name] ?? .max, file.floor)
                    continue
                }
                if member.isPrivate { continue }
                var known = added[member.name] ?? Added(floor: file.floor, types: [])
                known.floor = min(known.floor, file.floor)
                known.types.insert(type)
                added[member.name] = known
            }
        }
        added = added.filter { name, member in member.floor < (lowest[name] ?? .max) }
    }

    /// What a file uses of higher floors: after a dot, or by its bare name in a file that declares or extends the type.
    func uses(in file: Floors.File) -> [(member: String, floor: Int, line: Int)] {
        let own = Set(file.declarations.outer.map { $0.name.prefix { $0 != "." } })
        return added.compactMap { name, member in
            if member.floor <= file.floor { return nil }
            var line = file.declarations.memberUses[name[...]]
            let isOwn = member.types.contains { own.contains($0[...]) }
            if line == nil, isOwn, !file.declarations.allNames.contains(name) {
                line = file.declarations.identifiers[name[...]]
            }
            guard let line, let type = member.types.min() else { return nil }
            return ("\(type).\(name)", member.floor, line)
        }.sorted { $0.line < $1.line }
    }
}
