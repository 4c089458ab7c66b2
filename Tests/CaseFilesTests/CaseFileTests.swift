import Harness
import RunRecords
import Seeds
import Testing

@testable import CaseFiles

@Suite struct CaseFileTests {
    static let test = Case(
        scenario: "some-history", family: .crash, engine: "strata-storage", dataset: "", size: 0,
        parameters: [CaseParameter(name: "keys", value: "8"), CaseParameter(name: "states", value: "40")],
        seed: Seed(UInt64.max - 1), durability: .full)

    static let operations = [
        ScriptOperation(label: "op-0", action: "insert", arguments: [3, 1, 17, 200]),
        ScriptOperation(label: "op-7", action: "reopen"),
    ]

    static func file(_ subject: CaseFile.Subject) -> CaseFile {
        CaseFile(
            build: CaseFile.Build(version: "0.1", digest: "5f3a0c12beef", commit: "155f503", engineVersion: "0.1"),
            subject: subject, expected: "nothing lost",
            got: .init(outcome: "lost-commit", cause: "a \"b\"\n#", detail: "c"),
            isFree: true, rate: .init(same: 3, times: 3), origin: "60 operations")
    }

    static let fault = FaultAddress(text: "crash:at=op-0/main/log/sync/0,state=0x3")
    static let history = file(.history(test, operations, fault: fault))

    @Test("case files of every kind round-trip")
    func roundTrip() throws {
        let subjects: [CaseFile.Subject] = [
            .scenario(Self.test, fault: nil), .scenario(Self.test, fault: FaultAddress(.flip, 12)),
            .history(Self.test, Self.operations, fault: Self.fault),
            .history(Self.test, [Self.operations[0]], fault: nil),
            .program(
                ProgramCase(arguments: ["crash", "--check", "a b", "--", "sh", "-c", "x"], address: "crash:op=1")),
        ]
        for subject in subjects {
            let file = Self.file(subject)
            let read = try CaseFileReader.read(file.text, file: "a")
            #expect(read.file == file)
            #expect(!read.isEdited)
        }
    }

    @Test("the smallest edit of the content is detected, another spacing is not")
    func edits() throws {
        let text = Self.history.text
        let edited = text.replacing("[3,1,17,200]", with: "[3,1,17,201]")
        #expect(edited != text)
        #expect(try CaseFileReader.read(edited, file: "a").isEdited)
        #expect(try CaseFileReader.read(text.replacing("\"digest\": \"", with: "\"digest\": \"0"), file: "a").isEdited)
        #expect(try !CaseFileReader.read(text.replacing("\n", with: "\n\n  "), file: "a").isEdited)
        #expect(try !CaseFileReader.read("// a note\n" + text, file: "a").isEdited)
    }

    @Test("a truncated file is refused, and never crashes the reader")
    func cut() throws {
        let bytes = Array(Self.history.text.utf8)
        for length in 0..<(bytes.count - 2) {
            let text = String(decoding: bytes[..<length], as: UTF8.self)
            let error = try #require(throws: PlanError.self) { try CaseFileReader.read(text, file: "a") }
            #expect(error.message.contains("damaged or cut short"), "\(length): \(error)")
        }
    }

    @Test(
        "a wrong document gives one error with the place and the remedy",
        arguments: [
            ("\"assay-case/1\"", "\"assay-case/2\"", "a:2:13: is of format assay-case/2, and this build reads"),
            ("\"assay-case/1\"", "\"assay-run/2\"", "which is no case file's"),
            ("\"format\"", "\"fromat\"", "is no case file: it has no format"),
            ("\"kind\": \"history\"", "\"kind\": \"histroy\"", "did you mean history?"),
            ("\"operations\"", "\"operatoins\"", "unknown key operatoins; did you mean operations?"),
            ("\"do\":\"reopen\"", "\"does\":\"reopen\"", "unknown key does (known: label, do, with)"),
            ("\"do\":\"reopen\"", "\"do\":\"re open\"", "is no word"),
            ("\"op-7\"", "\"op-0\"", "two operations have the label op-0"),
            ("\"lost-commit\"", "\"lost-comit\"", "did you mean lost-commit?"),
            ("\"family\":\"crash\"", "\"family\":\"crahs\"", "did you mean crash?"),
            ("\"seed\":\"18446744073709551614\"", "\"seed\":\"-1\"", "seed needs a whole number from 0"),
            ("[3,1,17,200]", "[3,-1,17,200]", "expected a whole number from 0"),
            ("[\"crash:", "[\"crash:a\",\"crash:", "2 faults, and this build replays one"),
            ("\"expected\": \"nothing lost\"", "\"expected\": 3", "expected a text"),
            ("  \"expected\": \"nothing lost\",\n", "", "needs expected"),
        ])
    func wrong(part: String, other: String, message: String) throws {
        let text = Self.history.text
        #expect(text.contains(part), "the document is written differently: plant it elsewhere")
        let error = try #require(throws: PlanError.self) {
            try CaseFileReader.read(text.replacing(part, with: other, maxReplacements: 1), file: "a")
        }
        #expect("\(error)".contains(message), "\(error)")
        #expect(error.position != nil)
    }

    @Test("a script's operations are stored only in the case's parameter")
    func parameter() throws {
        let text = try #require(Self.history.test?.parameter("history"))
        #expect(text == "op-0:insert:3:1:17:200/op-7:reopen")
        #expect(ScriptOperation.list(text) == Self.operations)
        #expect(Self.history.test?.parameter("keys") == "8")
        #expect(!Self.history.text.contains(text))
        for bad in ["", "a", "a:b/", "a:b:-1", "a:b:01", "a:b:x", "a b:c", "a:b/a:c"] {
            #expect(ScriptOperation.list(bad) == nil, "\(bad)")
        }
    }

    @Test("the option for a program's one trial precedes the program's own options")
    func program() {
        let program = ProgramCase(
            arguments: ["crash", "--check", "c", "--", "p", "--only", "x"], address: "crash:op=3")
        #expect(
            program.replayArguments == [
                "crash", "--only", "crash:op=3", "--check", "c", "--", "p", "--only", "x",
            ])
    }
}
