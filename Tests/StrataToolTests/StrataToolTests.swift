import StrataFiles
import StrataStorage
import Testing

@testable import StrataStorageTests

@Suite struct StrataToolTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/store" }

    init() throws {
        directory = try TemporaryDirectory()
        try SampleStore.make(directory.path + "/store")
    }

    private func run(_ arguments: String...) throws -> StrataProcess {
        try StrataProcess.run(arguments, in: directory.path)
    }

    // MARK: Arguments

    @Test("help and version go to standard output, and end with 0")
    func help() throws {
        let all = try run("--help")
        #expect(all.status == 0 && all.error.isEmpty)
        for command in ["info", "check", "salvage", "compact", "copy", "dump"] {
            #expect(all.output.contains("\n  \(command) "))
            let one = try run(command, "--help")
            #expect(one.status == 0 && one.output.hasPrefix("strata \(command) FILE"))
            #expect(one.output.contains("Examples\n  strata \(command) "))
            #expect(one.output.split(separator: "\n").count { $0.contains("xit status") } == 1, "\(command)")
            let page = try run("man", command)
            #expect(page.status == 0 && page.output.hasPrefix(".TH STRATA\\-\(command.uppercased()) 1"), "\(page)")
        }
        #expect(try run("completion", "bash").output.contains("complete -F _strata strata"))
        let version = try run("--version")
        #expect(version.status == 0 && version.output == "strata 0.1 (file format 2)\n")
    }

    @Test(
        "a wrong command line ends with 64 and names the correct form",
        arguments: [
            ([], "Usage"), (["chek"], "did you mean check?"), (["info"], "FILE is missing"),
            (["info", "a", "b"], "too many arguments: b"), (["info", "a", "--jsom"], "did you mean --json?"),
            (["salvage", "a"], "--to NEW is missing"), (["dump", "a", "--format"], "--format needs jsonl|csv"),
            (["dump", "STORE", "--format", "cvs"], "did you mean csv?"),
            (["dump", "STORE", "--class", "Persn"], "did you mean Person?"),
            (["dump", "STORE", "--format", "csv"], "needs --out DIR"),
        ] as [([String], String)])
    func usage(words: [String], expected: String) throws {
        let end = try StrataProcess.run(words.map { $0 == "STORE" ? path : $0 }, in: directory.path)
        #expect(end.status == 64 && end.output.isEmpty)
        #expect(end.error.contains(expected), "\(end.error)")
    }

    @Test("a missing file, a foreign one and a directory are refused by name", arguments: ["info", "check", "dump"])
    func refused(command: String) throws {
        let missing = try run(command, path + ".none")
        #expect(missing.status == 1 && missing.error.contains("\(path).none: no such file"))
        #expect(try POSIXFileSystem().status(path + ".none") == nil)
        try StrataProcess.write(Array(repeating: 65, count: 20_000), to: path + ".txt")
        let foreign = try run(command, path + ".txt")
        #expect(foreign.status == 1 && foreign.error.contains("is not a Strata store"))
        let folder = try run(command, directory.path)
        #expect(folder.status == 1 && folder.error.contains("is not a file"))
    }

    // MARK: Looking

    @Test("info shows sizes and schema, and writes nothing")
    func info() throws {
        let before = try StrataProcess.bytes(path)
        let text = try run("info", path)
        #expect(text.status == 0)
        #expect(text.output.contains("Person: 300 rows") && text.output.contains("log         none, closed properly"))
        #expect(text.output.contains("dog       link, to Dog") && text.output.contains("2 of 2 verify"))
        #expect(!text.output.contains("0 runs"), "what is nowhere has no longest place")
        let json = try run("info", path, "--json").output
        #expect(json.contains("\"schema_version\":3") && json.contains("\"file_bytes\":\(before.count),"))
        #expect(json.contains("\"name\":\"isMember\",\"id\":4,\"type\":\"bool\""))
        #expect(try StrataProcess.bytes(path) == before)
    }

    @Test("a sound file is reported as sound, with the speed")
    func sound() throws {
        let end = try run("check", path)
        #expect(end.status == 0 && end.output.contains("sound") && end.output.contains("GB/s"))
        let json = try run("check", path, "--json")
        #expect(json.status == 0 && json.output.hasPrefix("{\"sound\":true,"))
    }

    @Test("a file open elsewhere is named, with a remedy")
    func open() throws {
        let store = try Store.open(path: path)
        for words in [["info", path], ["check", path], ["compact", path], ["salvage", path, "--to", path + ".new"]] {
            let end = try StrataProcess.run(words, in: directory.path)
            #expect(end.status == 1 && end.error.contains("\(path) is open in another program"), "\(end.error)")
        }
        try store.close()
    }

    // MARK: Copies

    @Test("copy and compact keep the rows; nothing is written over")
    func copies() throws {
        let copied = try run("copy", path, path + ".new")
        #expect(copied.status == 0 && copied.output.hasPrefix("\(path).new: "))
        let again = try run("copy", path, path + ".new")
        #expect(again.status == 1 && again.error.contains("is there already"))
        #expect(try run("compact", path + ".new").status == 0)
        let rows = try run("dump", path).output
        #expect(try run("dump", path + ".new").output == rows)
        #expect(rows.utf8.count { $0 == 0x0A } == 600)
    }

    // MARK: Dump

    @Test("JSON lines hold every value exactly")
    func jsonLines() throws {
        let lines = try run("dump", path, "--class", "Person").output.split(separator: "\n")
        let first =
            #"{"_class":"Person","id":1,"name":"Zoë, \"the\r\nfirst\"\u0001","age":1,"score":0.30000000000000004,"#
            + #""isMember":true,"photo":"AQ==","dog":0,"dogs":[0,0],"uuid":"00112233-4455-6677-8899-AABBCCDDEEFF","#
            + #""marks":[5,null,-2]}"#
        #expect(lines[0] == first)
        #expect(lines[1].contains(#""name":null"#) && lines[1].contains(#""dog":null"#))
        #expect(lines[2].contains(#""name":"""#))
        #expect(lines.count == 300)
    }

    @Test("CSV quotes by RFC 4180, and distinguishes null from an empty string")
    func csv() throws {
        let text = try run("dump", path, "--class", "Person", "--format", "csv").output
        let start =
            "id,name,age,score,isMember,photo,dog,dogs,uuid,marks\r\n"
            + "1,\"Zoë, \"\"the\r\nfirst\"\"\u{1}\",1,0.30000000000000004,true,AQ==,0,\"[0,0]\","
            + "00112233-4455-6677-8899-AABBCCDDEEFF,\"[5,null,-2]\"\r\n2,,2,"
        #expect(text.hasPrefix(start))
        #expect(text.contains("\r\n3,\"\",3,1.0,"))
    }

    @Test("one file per class, and none is overwritten")
    func directoryOfFiles() throws {
        let first = try run("dump", path, "--format", "csv", "--out", directory.path)
        #expect(first.status == 0 && first.output.isEmpty)
        #expect(try StrataProcess.read(directory.path + "/Dog.csv").hasPrefix("_key,name\r\n0,dog 0\r\n"))
        let again = try run("dump", path, "--format", "csv", "--out", directory.path)
        #expect(again.status == 1 && again.error.contains("Person.csv is there already"))
    }

    /// `dump --out` once failed for a missing directory, while every other command creates it.
    @Test("a missing directory is created, and an impossible path is named")
    func newDirectory() throws {
        #expect(try run("dump", path, "--out", directory.path + "/new").status == 0)
        #expect(try StrataProcess.read(directory.path + "/new/Dog.jsonl").hasPrefix("{\"_key\":0,\"name\":\"dog 0\"}"))
        let under = try run("dump", path, "--out", path + "/below")
        #expect(under.status == 1 && under.error.contains("\(path)/below cannot be made"), "\(under)")
    }

    @Test("a full disk ends a dump, a copy and a salvage with 1, and leaves no half file")
    func fullDisk() throws {
        let dump = try StrataProcess.run(["dump", path], in: directory.path, fileSizeLimit: 16)
        #expect(dump.status == 1 && !dump.error.isEmpty)
        for words in [["copy", path, path + ".new"], ["salvage", path, "--to", path + ".new"]] {
            let end = try StrataProcess.run(words, in: directory.path, fileSizeLimit: 16)
            #expect(end.status == 1 && !end.error.isEmpty, "\(words[0]): \(end)")
            #expect(try POSIXFileSystem().status(path + ".new") == nil)
        }
        #expect(try run("check", path).status == 0)
    }
}
