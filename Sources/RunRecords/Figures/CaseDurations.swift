import JSONText
import Seeds

/// The duration of a measurement of each case on a machine, with its fixture and its process, for estimates of a later
/// run's rounds.
package struct CaseDurations: Equatable, Sendable {
    /// Version of this format.
    package static let format = "assay-durations/1"

    /// In the directory of the runs, relative to the working directory.
    package static let file = "Reports/durations.json"

    private struct Entry: Equatable, Sendable {
        var machine: Machine
        var seconds: [String: Double]
    }

    private var entries: [Entry] = []

    package init() {}

    /// For the case with any seed.
    package func seconds(of test: Case, on machine: Machine) -> Double? {
        entries.first { $0.machine.isSame(as: machine) }?.seconds[Self.key(test)]
    }

    /// The latest duration replaces the earlier one.
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

    /// Empty without such a file. Throws: `JSONError` and `JSONShapeError` where the file has another content.
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
