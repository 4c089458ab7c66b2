import Synchronization
import Testing

@testable import Commands

/// A command that keeps what it was called with.
private final class Probe: Command {
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

@Suite struct ArgumentsTests {
    private func take(_ words: String...) throws(UsageError) -> Arguments { try Arguments(words, of: Probe()) }

    @Test("options, switches and what follows two dashes")
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

    @Test("the last argument may be given several times where its name ends with three dots")
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
        for (text, seconds) in [("90", 90.0), ("90s", 90), ("10m", 600), ("2h", 7_200), ("0.5m", 30)] {
            #expect(try take("a", "--to", text).seconds("--to") == seconds)
        }
        for text in ["-1", "1.5", "x", ""] {
            #expect(throws: UsageError.self, "\(text)") { try take("a", "--to=\(text)").unsigned("--to") }
        }
        for text in ["0", "-1s", "s", "inf", "nan", "1d"] {
            #expect(throws: UsageError.self, "\(text)") { try take("a", "--to=\(text)").seconds("--to") }
        }
    }
}

@Suite struct ProgramTests {
    private func program(_ probe: Probe) -> Program {
        Program(name: "p", version: "1", summary: "s", commands: [probe], exitStatuses: "Exit status: any.")
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

    @Test("a failure ends with 1, or as the program explains it")
    func failures() {
        let words = ["probe", "a", "--to", "b"]
        var program = program(Probe(fails: true))
        #expect(program.status(words) == 1)
        program.explain = { $0 is Probe.Refusal ? Program.Failure("refused", status: 2) : nil }
        #expect(program.status(words) == 2)
    }
}

@Suite struct NearestNameTests {
    @Test("the nearest name is one that was probably meant, or none")
    func nearest() {
        #expect(NearestName.find("bulk-insret", among: ["bulk-insert", "commit"]) == "bulk-insert")
        #expect(NearestName.find("comit", among: ["bulk-insert", "commit"]) == "commit")
        #expect(NearestName.find("zzzzzz", among: ["bulk-insert", "commit"]) == nil)
        #expect(NearestName.find("bulk", among: ["bulk-insert", "commit"]) == "bulk-insert")
        #expect(NearestName.find("cvs", among: ["jsonl", "csv"]) == "csv")
        #expect(NearestName.distance("kitten", "sitting") == 3)
        #expect(NearestName.distance("ab", "ba") == 1)
    }
}
