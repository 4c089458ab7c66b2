import Commands
import Files
import Harness
import RunRecords
import Seeds

extension PlanFilter {
    /// The filter of `--scenario`, `--engine`, `--dataset`, `--only`, `--size`, `--seed`, `--param` and `--budget`.
    init(_ arguments: Arguments) throws {
        self.init()
        scenarios = arguments.list("--scenario")
        engines = arguments.list("--engine")
        datasets = arguments.all("--dataset").flatMap(Self.datasets)
        seed = try arguments.unsigned("--seed").map { Seed($0) }
        size = try arguments.unsigned("--size").map { try Self.size($0, arguments.command) }
        budgetSeconds = try arguments.seconds("--budget")
        for name in arguments.list("--only") { try add(only: name, arguments.command) }
        for pair in arguments.all("--param") {
            guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
                throw UsageError("--param needs NAME=VALUE, not \(pair)", command: arguments.command)
            }
            parameters.append(
                CaseParameter(name: String(pair[..<equals]), value: String(pair[pair.index(after: equals)...])))
        }
    }

    /// Splits the value at commas. Neighbouring parts that together are the path of an existing file stay one name.
    private static func datasets(_ text: String) -> [String] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var names: [String] = []
        var next = 0
        while next < parts.count {
            let longest = (next..<parts.count).last { end in
                end > next && FileTree.exists(parts[next...end].joined(separator: ","))
            }
            let end = longest ?? next
            names.append(parts[next...end].joined(separator: ","))
            next = end + 1
        }
        return names.filter { !$0.isEmpty }
    }

    private static func size(_ rows: UInt64, _ command: String) throws -> Int {
        guard rows > 0, let size = Int(exactly: rows) else {
            throw UsageError("--size needs a number of rows from 1, not \(rows)", command: command)
        }
        return size
    }

    private mutating func add(only name: String, _ command: String) throws {
        if let layer = Layer(rawValue: name) {
            layers.append(layer)
            return
        }
        let known = Layer.allCases.map(\.rawValue) + Family.allCases.filter { $0 != .planted }.map(\.rawValue)
        guard let family = Family(rawValue: name), known.contains(name) else {
            throw UsageError(NearestName.complaint("layer or family", name, among: known), command: command)
        }
        families.append(family)
    }
}
