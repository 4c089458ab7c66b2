import Platform
import Synchronization
import Testing

@testable import Commands

/// A command that records its arguments.
final class Probe: Command {
    struct Refusal: Error {}

    let name = "probe"
    let summary = "does nothing"
    let question = "what is asked?"
    let positional = ["FILE", "[TRIAL]"]
    let options = [
        OptionSpecification("--to", value: "NEW", isRequired: true, "where"), OptionSpecification("--json", "a switch"),
        OptionSpecification("--times", value: "N", "how often"),
    ]
    let calls = Mutex<[Arguments]>([])
    let fails: Bool

    init(fails: Bool = false) { self.fails = fails }

    func run(_ arguments: Arguments) throws -> Int32 {
        calls.withLock { $0.append(arguments) }
        if fails { throw Refusal() }
        return 3
    }
}

@Suite struct CountedWordsTests {
    @Test("one thing is counted in the singular, none and several in the plural")
    func counts() {
        #expect(counted(1, "row") == "1 row" && counted(0, "row") == "0 rows" && counted(2, "row") == "2 rows")
        #expect(counted(1, "class", several: "classes") == "1 class")
        #expect(counted(3, "class", several: "classes") == "3 classes")
    }
}

@Suite struct ArgumentsTests {
    private func take(_ words: String...) throws(UsageError) -> Arguments { try Arguments(words, of: Probe()) }

    @Test("options, switches and arguments after two dashes")
    func words() throws {
        let taken = try take("a", "--to=b=c", "--json", "--times", "2", "--times", "3,4", "--", "--json")
        #expect(taken.positional == ["a", "--json"])
        #expect(taken.value("--to") == "b=c" && taken.has("--json"))
        #expect(taken.value("--times") == "3,4" && taken.all("--times") == ["2", "3,4"])
        #expect(taken.list("--times") == ["2", "3", "4"])
        #expect(try take("-", "--to", "-").positional == ["-"], "a single dash is an argument")
    }

    @Test(
        "a wrong command line is refused by name",
        arguments: [
            (["--to", "b"], "FILE is missing"), (["a"], "--to NEW is missing"),
            (["a", "b", "c"], "too many arguments: c"),
            (["a", "--to"], "--to needs NEW"), (["a", "--to", "b", "--json=1"], "--json takes no value"),
            (["a", "--too", "b"], "unknown option --too; did you mean --to?"),
        ])
    func refused(words: [String], expected: String) throws {
        let error = try #require(throws: UsageError.self) { try Arguments(words, of: Probe()) }
        #expect(error.message.hasPrefix(expected), "\(error)")
        #expect(error.command == "probe")
    }

    @Test("an argument whose name ends with three dots can be repeated")
    func several() throws {
        struct Several: Command {
            let name = "several"
            let summary = "takes what it is given"
            let positional = ["FIRST", "REST..."]
            let options: [OptionSpecification] = []
            func run(_ arguments: Arguments) -> Int32 { 0 }
        }
        #expect(try Arguments(["a", "b", "c", "d"], of: Several()).positional == ["a", "b", "c", "d"])
        let error = try #require(throws: UsageError.self) { try Arguments(["a"], of: Several()) }
        #expect(error.message == "REST... is missing")
    }

    @Test("numbers and durations")
    func numbers() throws {
        #expect(try take("a", "--to", "18446744073709551615").unsigned("--to") == .max)
        for (text, seconds) in [("90s", 90.0), ("10m", 600), ("2h", 7_200), ("0.5m", 30)] {
            #expect(try take("a", "--to", text).seconds("--to") == seconds)
        }
        for text in ["-1", "1.5", "x", ""] {
            #expect(throws: UsageError.self, "\(text)") { try take("a", "--to=\(text)").unsigned("--to") }
        }
        for text in ["0", "-1s", "s", "inf", "nan", "1d", "1e12s", "300000h"] {
            #expect(throws: UsageError.self, "\(text)") { try take("a", "--to=\(text)").seconds("--to") }
        }
    }

    /// `--budget 5` was once taken as five seconds, while the help shows 10m.
    @Test("a duration without a unit is refused, and the units are named")
    func unit() throws {
        let error = try #require(throws: UsageError.self) { try take("a", "--to", "5").seconds("--to") }
        #expect(error.message == "--to 5 has no unit: 5s, 5m or 5h?")
    }
}

/// A command that runs another program, whose command line comes after the command's own options.
struct Runs: Command {
    let name = "runs"
    let summary = "runs a program"
    let positional = ["PROGRAM", "[ARGUMENTS...]"]
    let options = [OptionSpecification("--check", value: "COMMAND", isRequired: true, "what says whether it is good")]
    let runsProgram = true
    let examples = [CommandExample("runs --check 'true {}' -- sh -c 'echo one'", "a shell")]
    let exitStatus = "0 good, 2 not good"
    func run(_ arguments: Arguments) -> Int32 { arguments.positional == ["sh", "-c", "echo one"] ? 0 : 2 }
}

/// A command with two sets of required options, each enough.
struct Chooses: Command {
    let name = "chooses"
    let summary = "does one of two things"
    let positional = ["[FILE]"]
    let usageForms = ["chooses --new FILE", "chooses --resume DIR"]
    let options = [
        OptionSpecification("--new", "begins"), OptionSpecification("--resume", value: "DIR", "goes on"),
    ]
    func run(_ arguments: Arguments) -> Int32 { 0 }
}

@Suite struct RunningCommandTests {
    /// The usage once lacked `--`, and a command written after it failed with: unknown option -c.
    @Test("the shown usage of a command that runs a program works")
    func usage() throws {
        #expect(Runs().usage == "runs --check COMMAND -- PROGRAM [ARGUMENTS...]")
        let words = try #require(Runs().examples.first).arguments
        #expect(words == ["runs", "--check", "true {}", "--", "sh", "-c", "echo one"])
        #expect(try Runs().run(Arguments(Array(words.dropFirst()), of: Runs())) == 0)
    }

    @Test("a program's option without a preceding -- is answered with the usage")
    func remedy() throws {
        let error = try #require(throws: UsageError.self) { try Arguments(["sh", "-c", "x"], of: Runs()) }
        #expect(error.message.contains("come after --: runs --check COMMAND -- PROGRAM"), "\(error)")
    }
}

@Suite struct ProgramTests {
    private func program(_ probe: Probe) -> Program {
        Program(
            name: "p", version: "1", summary: "s",
            groups: [CommandGroup("Look", [probe]), CommandGroup("Break", [Runs()])],
            exitStatus: "0 fine, 1 failed, 64 wrong arguments", failureStatus: "1 failed, 64 wrong arguments")
    }

    @Test("help and manual begin with every form of a command line")
    func forms() throws {
        let program = program(Probe())
        let help = CommandHelp(program, Chooses()).text
        #expect(help.hasPrefix("p chooses --new FILE\np chooses --resume DIR\n\ndoes one of two things\n"), "\(help)")
        let page = ManualPage(program, Chooses()).text
        #expect(
            page.contains(".SH SYNOPSIS\n.B p chooses\n\\-\\-new FILE\n.br\n.B p chooses\n\\-\\-resume DIR\n"),
            "\(page)")
        #expect(CommandHelp(program, Runs()).text.hasPrefix("p runs --check COMMAND -- PROGRAM [ARGUMENTS...]\n\n"))
    }

    @Test("the help has a line for each command, below the heading of its group")
    func groups() throws {
        let help = program(Probe()).help
        let lines = help.split(separator: "\n").map(String.init)
        let look = try #require(lines.firstIndex(of: "Look"))
        #expect(lines[look + 1].hasPrefix("  probe ") && lines[look + 2] == "Break")
        #expect(lines.contains { $0.hasPrefix("  completion ") } && lines.contains { $0.hasPrefix("  man ") })
        #expect(lines.last == "Exit status: 0 fine, 1 failed, 64 wrong arguments.")
    }

    /// Ten commands once explained their exit status twice, in two different lines.
    @Test("the help of a command has one line about its exit status, and its examples")
    func exitStatus() {
        let own = CommandHelp(program(Probe()), Runs()).text
        #expect(own.hasSuffix("Exit status: 0 good, 2 not good, 1 failed, 64 wrong arguments."))
        #expect(own.split(separator: "\n").count { $0.contains("xit status") } == 1)
        #expect(own.contains("Examples\n  p runs --check 'true {}' -- sh -c 'echo one'  # a shell"))
        let general = CommandHelp(program(Probe()), Probe()).text
        #expect(general.hasSuffix("Exit status: 0 fine, 1 failed, 64 wrong arguments."))
    }

    /// `assay list | head` once printed "Broken pipe", and ended with the status of a harness error.
    @Test("a closed pipe ends the command silently, like a signal")
    func closedPipe() {
        struct Cut: Command {
            let name = "cut"
            let summary = "writes to a pipe that nothing reads"
            let positional: [String] = []
            let options: [OptionSpecification] = []
            func run(_ arguments: Arguments) throws -> Int32 { throw OutputError(errno: EPIPE) }
        }
        let program = Program(
            name: "p", version: "1", summary: "s", groups: [CommandGroup("", [Cut()])], exitStatus: "",
            failureStatus: "")
        #expect(program.status(["cut"]) == 141)
        #expect(OutputError(errno: EPIPE).isClosedPipe && !OutputError(errno: ENOSPC).isClosedPipe)
    }

    @Test("the command's status is the program's, and a wrong command line ends with 64")
    func statuses() {
        let probe = Probe()
        #expect(program(probe).status(["probe", "a", "--to", "b"]) == 3)
        #expect(program(probe).status([]) == 64)
        #expect(program(probe).status(["prob"]) == 64)
        #expect(program(probe).status(["probe", "a"]) == 64)
        #expect(program(probe).status(["probe", "--help"]) == 0)
        #expect(program(probe).status(["help", "probe"]) == 0)
        #expect(program(probe).status(["probe", "a", "--to", "b", "--", "--help"]) == 3, "an argument, no option")
        #expect(probe.calls.withLock { $0.map(\.positional) } == [["a"], ["a", "--help"]])
    }

    @Test("a failure ends with 1, or with the program's own status")
    func failures() {
        let words = ["probe", "a", "--to", "b"]
        var program = program(Probe(fails: true))
        #expect(program.status(words) == 1)
        program.explain = { $0 is Probe.Refusal ? Program.Failure("refused", status: 2) : nil }
        #expect(program.status(words) == 2)
    }
}

@Suite struct NearestNameTests {
    @Test("the nearest name is a plausible one, or none")
    func nearest() {
        #expect(NearestName.find("bulk-insret", among: ["bulk-insert", "commit"]) == "bulk-insert")
        #expect(NearestName.find("comit", among: ["bulk-insert", "commit"]) == "commit")
        #expect(NearestName.find("zzzzzz", among: ["bulk-insert", "commit"]) == nil)
        #expect(NearestName.find("bulk", among: ["bulk-insert", "commit"]) == "bulk-insert")
        #expect(NearestName.find("cvs", among: ["jsonl", "csv"]) == "csv")
        #expect(NearestName.distance("kitten", "sitting") == 3)
        #expect(NearestName.distance("ab", "ba") == 1)
        let names = ["growth", "growth", "smoke", "quick"]
        #expect(NearestName.nearest("grow", among: names, count: 3).count { $0 == "growth" } == 1)
    }

    /// A wrong name was once answered with all 138 names, in one line of 2 600 characters.
    @Test("an unknown name of a long list gets the three nearest names, and the command for all; of a short list, all")
    func complaint() {
        let names = ["commit", "commit-nosync", "one", "two", "three", "four", "five", "six", "bulk-insert"]
        #expect(
            NearestName.complaint("scenario", "comit", among: names, list: "assay list scenarios")
                == "unknown scenario comit; did you mean commit? (nearest: commit, one, four; "
                + "assay list scenarios prints all 9)")
        #expect(
            NearestName.complaint("scenario", "commi", among: names)
                == "unknown scenario commi; did you mean commit? (nearest: commit, commit-nosync, one, of 9)")
        #expect(
            NearestName.complaint("format", "x", among: ["csv", "jsonl"]) == "unknown format x (known: csv, jsonl)")
    }
}
