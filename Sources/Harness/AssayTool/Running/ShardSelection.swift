import Commands
import Harness
import Platform
import RunRecords

/// The cases of a plan that `--shard` selects.
struct ShardSelection {
    /// nil to run all cases.
    let part: PlanPart?
    let cases: [PlannedCase]

    init(_ arguments: Arguments, of all: [PlannedCase]) throws(UsageError) {
        guard let shard = try Self.shard(arguments) else {
            (part, cases) = (nil, all)
            return
        }
        part = PlanPart(
            shard: shard, planCases: all.map(\.test.id),
            command: RunCommand.command(Self.withoutPlace(Array(CommandLine.arguments.dropFirst()))))
        cases = all.filter { shard.holds($0.test) }
    }

    /// The shard that the command line or the environment of a scheduler names.
    static func shard(_ arguments: Arguments) throws(UsageError) -> Shard? {
        guard let text = arguments.value("--shard") else { return nil }
        do throws(ShardChoice.Refusal) {
            let choice = try ShardChoice(text) { name in getenv(name).map { String(cString: $0) } }
            if !choice.source.isEmpty { Output.error("shard \(choice.shard), by \(choice.source)") }
            return choice.shard
        } catch {
            throw UsageError(error.description, command: arguments.command)
        }
    }

    /// The words of a command without the options that differ from shard to shard.
    private static func withoutPlace(_ words: [String]) -> [String] {
        var kept: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if ["--shard", "--out"].contains(word) {
                _ = rest.popFirst()
            } else if !word.hasPrefix("--shard=") && !word.hasPrefix("--out=") {
                kept.append(word)
            }
        }
        return kept
    }

    /// Writes the checksums of a finished shard's files, by which `assay merge` verifies that they are complete.
    static func seal(_ run: Run) throws {
        guard let part = run.header.part, run.isFinished else { return }
        let directory = RunDirectory(path: run.directory)
        try RecordSums(of: directory).write(to: directory)
        if run.header.cases.isEmpty {
            Output.error(
                "shard \(part.shard) has none of the plan's \(part.planCases.count) cases: the shard ran none, "
                    + "and assay merge takes the empty run like any other")
        }
    }
}
