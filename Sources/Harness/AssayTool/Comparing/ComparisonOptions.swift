import Commands
import Files
import Harness
import Platform
import RunRecords

/// Options and checks shared by the commands that compare programs.
enum ComparisonOptions {
    static let defaultPairs = 40
    static let defaultThreshold = 0.03
    /// The time limit of a case, far above the usual second: a case that is cut off cannot be compared.
    static let secondsPerCase = 600.0

    static let specifications = [
        OptionSpecification(
            "--pairs", value: "N", "rounds of a comparison: A, B and A once more (40; 80 for work bound by syncs)"),
        OptionSpecification("--threshold", value: "P%", "the smallest difference to report (3%)"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans"),
    ]

    /// Runs the body of a comparing command. A revision that cannot be used and a directory that holds other files
    /// become usage errors.
    static func explained(_ command: String, _ body: () throws -> Int32) throws -> Int32 {
        Interruption.install()
        // Removes what killed runs and comparisons left in memory, in any directory.
        try ScratchDirectory.removeAbandoned(in: ScratchDirectory.memory)
        do {
            return try body()
        } catch is WorkInterrupted {
            Output.error("stopped before the first measurement; assay keeps finished builds")
            return Interruption.exitStatus
        } catch let error as RevisionBuildError {
            throw UsageError(error.description, command: command)
        } catch let error as UnusableRevision {
            throw UsageError(error.message, command: command)
        } catch let error as DirectoryClaimError {
            if error.isInUse { throw error }
            throw UsageError(error.description, command: command)
        }
    }

    /// Runs `body` with a temporary directory, which is in memory if there is enough room.
    static func withScratch<Value>(_ body: (String) throws -> Value) throws -> Value {
        let scratch = try ScratchDirectory.make(
            in: FileTree.isDirectory(ScratchDirectory.memory) ? ScratchDirectory.memory : P_tmpdir)
        defer { do { try scratch.remove() } catch { Output.error("left behind: \(error)") } }
        return try body(scratch.files)
    }

    static func pairs(_ arguments: Arguments) throws -> Int {
        guard let pairs = try arguments.unsigned("--pairs") else { return defaultPairs }
        let fewest = UInt64(PairedSession.fewestPairs)
        guard pairs >= fewest, pairs <= 10_000 else {
            throw UsageError("--pairs needs a number from \(fewest) to 10000, not \(pairs)", command: arguments.command)
        }
        return Int(pairs)
    }

    /// Parses `3%` or `3`; both are percent.
    static func threshold(_ arguments: Arguments) throws -> Double {
        guard let text = arguments.value("--threshold") else { return defaultThreshold }
        let digits = text.hasSuffix("%") ? String(text.dropLast()) : text
        guard let percent = Double(digits), percent >= 0.1, percent <= 100 else {
            throw UsageError(
                "--threshold needs a percentage from 0.1% to 100%, not \(text)", command: arguments.command)
        }
        return percent / 100
    }

    static func known(_ arguments: Arguments) throws -> [KnownViolation] {
        let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
        return try Checkout.knownViolations(given: arguments.value("--plans"), executable: executable)
    }

    /// Why two programs cannot be compared; nil if they can.
    static func objection(_ a: DescribedProgram, _ b: DescribedProgram) -> String? {
        if (a.library == nil) == (b.library == nil) { return nil }
        return "libAssayPreload.so counts the file calls of side \(a.library == nil ? "B" : "A") alone, which "
            + "costs it time: build it beside the other program as well, or remove it"
    }

    /// Checks process limits and free disk space; each side needs room for fixtures of its own.
    static func requireRoom(
        _ cases: [PlannedCase], _ plan: Plan, _ registries: Registries, budget: Double?, out: String?
    ) throws {
        var space = FreeSpace(cases, registries: registries)
        space.neededBytes *= 2
        try InheritedLimits.prepare(
            for: .init(
                memoryBytes: UInt64(plan.memoryMegabytes) << 20, largestFileBytes: space.largestFileBytes,
                seconds: budget ?? secondsPerCase))
        try space.require(in: RunCommand.existing(trimmed(out ?? "Reports")))
    }
}
