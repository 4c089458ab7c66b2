import RunRecords
import Testing

@testable import Harness

@Suite struct ShardChoiceTests {
    private func choose(_ text: String, _ variables: [String: String] = [:]) throws -> String {
        let choice = try ShardChoice(text) { variables[$0] }
        return "\(choice.shard) \(choice.source)"
    }

    @Test("each scheduler's number is used with its base")
    func automatic() throws {
        #expect(try choose("2/5", ["JOB_COMPLETION_INDEX": "4"]) == "2/5 ")
        let slurm = ["SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "3"]
        #expect(try choose("auto", slurm.merging(["SLURM_ARRAY_TASK_ID": "0"]) { $1 }) == "1/4 SLURM_ARRAY_TASK_ID")
        #expect(try choose("auto/4", slurm.merging(["SLURM_ARRAY_TASK_ID": "3"]) { $1 }) == "4/4 SLURM_ARRAY_TASK_ID")
        let stepped = [
            "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "14",
            "SLURM_ARRAY_TASK_STEP": "2", "SLURM_ARRAY_TASK_ID": "14",
        ]
        #expect(try choose("auto", stepped) == "3/3 SLURM_ARRAY_TASK_ID")
        #expect(try choose("auto/8", ["JOB_COMPLETION_INDEX": "0"]) == "1/8 JOB_COMPLETION_INDEX")
        #expect(try choose("auto/8", ["JOB_COMPLETION_INDEX": "7"]) == "8/8 JOB_COMPLETION_INDEX")
        #expect(try choose("auto", ["CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "3"]) == "3/3 CI_NODE_INDEX")
    }

    @Test(
        "an ambiguous number is refused with a remedy",
        arguments: [
            ("2", [:], "needs I/N"), ("0/3", [:], "needs I/N"), ("auto/0", [:], "needs I/N"),
            ("auto/", [:], "needs I/N"), ("auto/2/3", [:], "needs I/N"),
            ("auto", [:], "finds none of SLURM_ARRAY_TASK_ID"),
            ("auto", ["PARALLEL_JOBSLOT": "2"], "PARALLEL_JOBSLOT is no shard"),
            ("auto", ["JOB_COMPLETION_INDEX": "1"], "give --shard auto/N"),
            ("auto/2", ["JOB_COMPLETION_INDEX": "2"], "is none of 2 shards"),
            ("auto", ["CI_NODE_INDEX": "0", "CI_NODE_TOTAL": "3"], "(it counts from 1)"),
            ("auto", ["CI_NODE_INDEX": "1"], "CI_NODE_TOTAL, which is not set"),
            ("auto", ["CI_NODE_INDEX": "x", "CI_NODE_TOTAL": "3"], "CI_NODE_INDEX, which is \"x\""),
            ("auto/4", ["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"], "say one of the two"),
            ("auto", ["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3", "JOB_COMPLETION_INDEX": "1"], "cannot know which"),
            (
                "auto",
                [
                    "SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "1",
                    "SLURM_ARRAY_TASK_MAX": "9",
                ], "has gaps"
            ),
        ])
    func refused(text: String, variables: [String: String], expected: String) throws {
        let refusal = try #require(throws: ShardChoice.Refusal.self) { try ShardChoice(text) { variables[$0] } }
        #expect(refusal.description.contains(expected), "\(refusal)")
    }
}
