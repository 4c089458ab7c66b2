/// Formats the floors of rooms as lines of text, which `make floors` prints.
struct FloorGraph {
    private static let width = 120

    let lines: [String]

    init(_ rooms: [Floors], _ sources: [(path: String, source: SwiftSource)]) {
        lines = rooms.flatMap { Self.lines($0, sources) }
    }

    /// The graph of this checkout.
    static var text: String {
        let sources = Checkout.swiftFiles.map { (path: $0.file.path, source: $0.source) }
        return FloorGraph(Floors.all, sources).lines.joined(separator: "\n")
    }

    /// Formats one room: a line with its counts; its floors from the lowest to the highest, each with its number of
    /// files; for each floor, the higher declarations that an exception lets it use, each with the number of files that
    /// use it; the violations.
    private static func lines(_ floors: Floors, _ sources: [(path: String, source: SwiftSource)]) -> [String] {
        let files = floors.read(sources)
        let (found, used) = floors.violations(in: files)
        var head = "\(floors.room.dropLast()): \(count(files.count, "file")), \(count(used.count, "exception"))"
        if !found.isEmpty { head += ", \(count(found.count, "violation"))" }
        let stair = floors.folders.enumerated().map { floor, folder in
            let name = folder.isEmpty ? "(its own folder)" : folder
            return "\(name) \(files.count { $0.floor == floor })"
        }
        var lines = [head] + wrapped(stair, separator: " < ")
        for folder in floors.folders {
            let prefix = folder + ": "
            let names = used.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }
                .map { "\($0.key.dropFirst(prefix.count)) \($0.value)" }
            if !names.isEmpty { lines += wrapped(names, separator: ", ", lead: "\(folder) names ") }
        }
        return lines + found.map { "  \($0)" }
    }

    private static func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }

    private static func wrapped(_ parts: [String], separator: String, lead: String = "") -> [String] {
        var lines: [String] = []
        var line = "  " + lead
        for (index, part) in parts.enumerated() {
            let piece = part + (index == parts.count - 1 ? "" : separator)
            if line.count + piece.count > width {
                lines.append(line)
                line = "    "
            }
            line += piece
        }
        return (lines + [line]).map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
    }
}
