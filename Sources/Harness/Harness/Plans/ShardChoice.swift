import RunRecords

/// The shard of a plan that this process runs: from `--shard`, or from a scheduler's environment variables.
package struct ShardChoice: Sendable, Equatable {
    package let shard: Shard
    /// The environment variable that `auto` read the shard from: `SLURM_ARRAY_TASK_ID`. Empty without `auto`.
    package let source: String

    /// Why no shard can be chosen, with the remedy.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - text: `I/N`, `auto` or `auto/N`.
    ///   - variable: reads an environment variable; nil if it is not set.
    package init(_ text: String, variable: (String) -> String?) throws(Refusal) {
        if let shard = Shard(text) {
            (self.shard, source) = (shard, "")
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let count = parts.count == 2 ? Shard.number(parts[1]) : nil
        guard parts.first == "auto", parts.count == 1 || count.map({ $0 > 0 }) == true else {
            throw Refusal(
                description: "--shard needs I/N, with I from 1 to N and N up to \(Shard.largestCount), or auto, or "
                    + "auto/N, not \(text)")
        }
        self = try Self.automatic(count: count, variable)
    }

    private init(_ shard: Shard, source: String) {
        (self.shard, self.source) = (shard, source)
    }

    // MARK: Schedulers

    private static let slurm = "SLURM_ARRAY_TASK_ID"
    private static let kubernetes = "JOB_COMPLETION_INDEX"
    private static let nodes = "CI_NODE_INDEX"

    private static func automatic(
        count: Int?, _ variable: (String) -> String?
    ) throws(Refusal) -> ShardChoice {
        let present = [slurm, kubernetes, nodes].filter { variable($0) != nil }
        guard present.count <= 1 else {
            throw Refusal(
                description: "--shard auto finds \(present.joined(separator: " and ")), and cannot know which of them "
                    + "counts: give --shard I/N")
        }
        guard let source = present.first else { throw Refusal(description: nothing(variable)) }
        let (index, found) =
            switch source {
            case slurm: try slurmTask(variable)
            case kubernetes: (try number(kubernetes, variable) + 1, count)
            default: (try number(nodes, variable), try number("CI_NODE_TOTAL", variable))
            }
        guard let found else {
            throw Refusal(
                description: "\(kubernetes) says which pod this is, and nothing says how many there are: give --shard "
                    + "auto/N, where N is what the Job has as completions")
        }
        if let count, count != found {
            throw Refusal(description: "--shard auto/\(count), and \(source) is one of \(found): say one of the two")
        }
        guard let shard = Shard(index, of: found) else {
            let base = source == nodes ? " (it counts from 1)" : ""
            throw Refusal(
                description: "\(source)=\(variable(source) ?? "")\(base) is none of \(found) shards: give --shard I/N")
        }
        return ShardChoice(shard, source: source)
    }

    /// Slurm numbers the tasks of an array from its lowest index on, in its step.
    private static func slurmTask(_ variable: (String) -> String?) throws(Refusal) -> (Int, Int?) {
        let id = try number(slurm, variable)
        let count = try number("SLURM_ARRAY_TASK_COUNT", variable)
        let lowest = try number("SLURM_ARRAY_TASK_MIN", variable)
        let step = variable("SLURM_ARRAY_TASK_STEP") == nil ? 1 : try number("SLURM_ARRAY_TASK_STEP", variable)
        let highest =
            variable("SLURM_ARRAY_TASK_MAX") == nil
            ? lowest + (count - 1) * step : try number("SLURM_ARRAY_TASK_MAX", variable)
        guard step > 0, id >= lowest, (id - lowest) % step == 0, highest == lowest + (count - 1) * step else {
            throw Refusal(
                description: "the array of this task has gaps (\(count) tasks from \(lowest) to \(highest)), so that "
                    + "its number is not known: submit it as --array=1-N, or give --shard I/N")
        }
        return ((id - lowest) / step + 1, count)
    }

    private static func number(
        _ name: String, _ variable: (String) -> String?
    ) throws(Refusal) -> Int {
        let text = variable(name)
        guard let text, let number = Shard.number(text), number <= 1_000_000_000 else {
            throw Refusal(
                description: "--shard auto needs \(name), which is \(text.map { "\"\($0)\"" } ?? "not set"): give "
                    + "--shard I/N")
        }
        return number
    }

    private static func nothing(_ variable: (String) -> String?) -> String {
        if let slot = ["PARALLEL_JOBSLOT", "PARALLEL_SEQ"].first(where: { variable($0) != nil }) {
            return "\(slot) is no shard: a slot takes several jobs one after the other, and a job does not know how "
                + "many there are. Hand the number over:  parallel assay run PLAN --shard {}/4 --out S{} ::: 1 2 3 4"
        }
        return "--shard auto finds none of \(slurm) (Slurm arrays), \(kubernetes) (Kubernetes Indexed Jobs) and "
            + "\(nodes) (GitLab's parallel): give --shard I/N"
    }
}
