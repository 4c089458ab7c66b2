import Files
import JSONText
import Seeds

/// How long a measurement of each case took on a machine, with its fixture and its process. A later run estimates its
/// rounds by it.
package struct CaseDurations: Equatable, Sendable {
    /// Version of this format.
    package static let format = "assay-durations/1"

    /// The file, beside the directories of runs, relative to the working directory.
    package static let file = "Reports/durations.json"

    private struct Entry: Equatable, Sendable {
        var machine: Machine
        var seconds: [String: Double]
    }

    private var entries: [Entry] = []

    package init() {}

    /// The duration of the case, whatever its seed.
    package func seconds(of test: Case, on machine: Machine) -> Double? {
        entries.first { $0.machine.isSame(as: machine) }?.seconds[Self.key(test)]
    }

    /// Keeps the duration in place of an earlier one.
    package mutating func note(_ seconds: Double, of test: Case, on machine: Machine) {
        guard seconds.isFinite, seconds > 0 else { return }
        let place = entries.firstIndex { $0.machine.isSame(as: machine) } ?? entries.count
        if place == entries.count { entries.append(Entry(machine: machine, seconds: [:])) }
        entries[place].seconds[Self.key(test)] = seconds
    }

    private static func key(_ test: Case) -> String {
        var test = test
        test.seed = Seed(0)
        return test.id
    }

    /// Empty if there is no such file. Throws: `JSONError` and `JSONShapeError` if the file has other contents.
    package static func read(_ path: String) throws -> CaseDurations {
        guard FileTree.exists(path) else { return CaseDurations() }
        let json = try JSONObjectReader(try JSONReader.read(try FileTree.readBytes(path)), path: path)
        guard try json.string("format") == format else {
            throw JSONShapeError(path: path + ".format", expected: format)
        }
        var durations = CaseDurations()
        for entry in try json.objects("machines") {
            var seconds: [String: Double] = [:]
            let cases = try entry.object("cases")
            if case .object(let members) = cases.value {
                for member in members { seconds[member.name] = try cases.real(member.name) }
            }
            durations.entries.append(
                Entry(machine: try Machine(json: try entry.object("machine")), seconds: seconds))
        }
        return durations
    }

    package func write(_ path: String) throws(FileTreeError) {
        let machines = entries.map { entry in
            let cases = entry.seconds.sorted { $0.key < $1.key }.map { JSONMember($0.key, .real($0.value)) }
            return JSONValue.object([
                JSONMember("machine", entry.machine.json), JSONMember("cases", .object(cases)),
            ])
        }
        let value = JSONValue.object([
            JSONMember("format", .string(Self.format)), JSONMember("machines", .array(machines)),
        ])
        try FileTree.replaceText(path, value.text + "\n")
    }
}
