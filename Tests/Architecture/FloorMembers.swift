/// Finds uses of members that a higher floor of a room adds to a type of a lower floor.
///
/// The search compares names, not types. It reports the use of a name if higher floors contain all declarations of that
/// name in the room. So the search misses a member whose name a lower floor declares too, for any type. It also misses
/// initializers.
struct FloorMembers {
    /// Names that types of other modules declare too: the search cannot decide which declaration a use means.
    /// A test refuses a name without which the search would report nothing more.
    static let ambiguous: Set<String> = [
        // The standard library declares it.
        "joined",
        // A module below the room declares it.
        "deterministic",
    ]

    private struct Added {
        /// The lowest floor that adds it.
        var floor: Int
        /// The types to which extensions add it.
        var types: Set<String>
    }

    private var added: [String: Added] = [:]

    /// - Parameters:
    ///   - types: the lowest floor that declares each type.
    ///   - ambiguous: the names that the search passes over.
    init(_ files: [Floors.File], types: [String: Int], ambiguous: Set<String> = Self.ambiguous) {
        var lowest: [String: Int] = [:]
        for file in files {
            for member in file.declarations.members where !ambiguous.contains(member.name) {
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

    /// Finds the members of higher floors that a file uses: after a dot, or by the bare name if the file declares or
    /// extends the type.
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
