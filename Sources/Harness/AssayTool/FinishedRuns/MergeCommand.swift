import Commands
import Files
import Harness
import Reporting
import RunRecords

/// `assay merge`: merges the runs of shards into one run.
struct MergeCommand: Command {
    let name = "merge"
    let summary = "unites the runs of shards (`assay run PLAN --shard I/N`) into one run with one report"
    let question = "what is the result of all machines together?"
    let positional = ["RUN..."]
    let examples = [
        CommandExample("merge S1 S2 S3 S4 --out D", "four shards: assay run PLAN --shard 1/4 --out S1, and so on"),
        CommandExample("merge S1 S3 --partial --out D", "two of the shards"),
    ]
    let exitStatus = "that of a run of the whole plan"
    let options = [
        OptionSpecification("--out", value: "DIR", isRequired: true, "the directory for the merged run"),
        OptionSpecification("--partial", "shards may be missing: the report says which cases have not run"),
    ]

    var details: [String] {
        [
            "Answers: \(question)", "",
            "Name the shards in any order. They have to be of one plan, seed, build, commit and set of",
            "options, to have ended, and to be unchanged since. Machines may differ: the report names that of each",
            "time, and compares no times of two machines.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        do {
            return try merge(arguments)
        } catch let error as MergeError {
            throw UsageError(error.description, command: name)
        } catch let error as DirectoryClaimError {
            if error.isInUse { throw error }
            throw UsageError(error.description, command: name)
        }
    }

    private func merge(_ arguments: Arguments) throws -> Int32 {
        let paths = arguments.positional.map(trimmed)
        let out = trimmed(arguments.value("--out") ?? "")
        if let place = FileTree.absolute(out), let shard = paths.first(where: { FileTree.absolute($0) == place }) {
            throw UsageError("--out \(out) is the shard \(shard): name another directory", command: name)
        }
        let merge = try RunMerge(paths, allowsMissing: arguments.has("--partial"))
        let header = merge.union.header
        let claim = try RunClaim.take(out, id: header.id, options: merge.options) { target in
            Output.error("the run that was in \(out) is now in \(target)")
        }
        var run = try merge.write(to: claim.directory)
        try claim.end()
        try KeptCases.write(&run, BuildRegistries.make())
        try ReportFiles.write(run)
        try Output.write(Reporting.terminal(run, width: Output.width, colour: Output.wantsColour))
        return merge.exitStatus(run)
    }
}
