import Files
import JSONText
import Seeds

/// How long a measurement of each case took on a machine, with its fixture and its process. A later run estimates its
/// rounds by it.
package struct CaseDurations: JSONRecord, Equatable {
    /// Version of this format.
    package static let format = "assay-durations/1"

    /// The file, beside the directories of runs, relative to the working directory.
    package static let file = "Reports/durations.json"

    package static let blank = CaseDurations()
    package static let fields: [JSONField<CaseDurations>] = [
        .constant("format", format), .member("machines", \.entries),
    ]

    private struct Entry: JSONRecord, Equatable {
        var machine: Machine
        var seconds: [String: Double]

        static let blank = Entry(machine: .blank, seconds: [:])
        static let fields: [JSONField<Entry>] = [
            .member("machine", \.machine),
            JSONField("cases", write: { $0.seconds.json }) { (json, entry) throws(JSONShapeError) in
                entry.seconds = try [String: Double](json: json ?? .null, in: .seconds)
            },
        ]
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
        return try CaseDurations(document: try FileTree.readBytes(path), named: path)
    }

    package func write(_ path: String) throws(FileTreeError) { try FileTree.replaceText(path, json.text + "\n") }
}
