import Foundation
import Testing

/// Tools/traits with a fake pkg-config, so that the result does not depend on this machine.
@Suite struct ToolsTests {
    struct Answer {
        let status: Int32
        let output: String
        let remarks: String
    }

    /// Runs Tools/traits with a pkg-config that knows `modules` and an include folder with `headers`.
    static func traits(_ arguments: [String], modules: [String], headers: [String]) throws -> Answer {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("traits-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        let include = folder.appendingPathComponent("include")
        for header in headers {
            let file = include.appendingPathComponent(header)
            try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        let script = """
            #!/bin/sh
            for last; do :; done
            case " \(modules.joined(separator: " ")) " in *" $last "*) ;; *) exit 1 ;; esac
            case "$1" in --variable=includedir) echo "\(include.path)" ;; esac
            """
        let fake = folder.appendingPathComponent("pkg-config")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(script.utf8).write(to: fake)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fake.path)

        let process = Process()
        process.executableURL = Checkout.root.appendingPathComponent("Tools/traits")
        process.arguments = arguments
        process.environment = ["PATH": "\(folder.path):/usr/bin:/bin"]
        let output = Pipe()
        let remarks = Pipe()
        process.standardOutput = output
        process.standardError = remarks
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let remarkText = remarks.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines),
            remarks: String(decoding: remarkText, as: UTF8.self))
    }

    static let modules = ["libxxhash", "libcrypto", "sqlite3", "lmdb", "rocksdb"]
    static let headers = ["xxhash.h", "openssl/evp.h", "sqlite3.h", "lmdb.h", "rocksdb/c.h"]

    @Test("with all libraries: every trait, and no remark")
    func allThere() throws {
        let answer = try Self.traits([], modules: Self.modules, headers: Self.headers)
        #expect(answer.status == 0)
        #expect(answer.output == "Crypto,SQLite,LMDB,RocksDB")
        #expect(answer.remarks == "")
    }

    @Test("a header without its module, or a module without its header, is no trait")
    func halfThere() throws {
        let noModule = try Self.traits([], modules: ["libxxhash", "libcrypto"], headers: Self.headers)
        #expect(noModule.output == "Crypto")
        #expect(noModule.remarks.contains("libsqlite3-dev"))
        let noHeader = try Self.traits([], modules: Self.modules, headers: ["xxhash.h", "sqlite3.h"])
        #expect(noHeader.status == 0)
        #expect(noHeader.output == "SQLite")
        #expect(noHeader.remarks.contains("libssl-dev"))
    }

    @Test("without optional libraries the list is still valid for SwiftPM")
    func noneThere() throws {
        let answer = try Self.traits(["--quiet"], modules: ["libxxhash"], headers: ["xxhash.h"])
        #expect(answer.status == 0)
        #expect(answer.output == "default")
        #expect(answer.remarks == "")
    }

    @Test("a required library that is missing is an error with its remedy, even when quiet")
    func requiredMissing() throws {
        let answer = try Self.traits(["--quiet"], modules: ["sqlite3"], headers: Self.headers)
        #expect(answer.status == 1)
        #expect(answer.remarks.contains("apt-get install pkg-config libxxhash-dev"))
    }

    @Test("traits can be added and left out")
    func addedAndLeftOut() throws {
        let answer = try Self.traits(
            ["--with", "Zoo", "--without", "Crypto"], modules: Self.modules, headers: Self.headers)
        #expect(answer.output == "Zoo,SQLite,LMDB,RocksDB")
        #expect(try Self.traits(["--wiht", "Zoo"], modules: [], headers: []).status == 64)
    }
}

/// Tools/plans with a fake tool, whose exit status follows from the plan's name.
@Suite struct PlansToolTests {
    private static func run(_ plans: [String], named: [String] = [], budget: String = "") throws -> (Int32, [String]) {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("plans-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        try files.createDirectory(at: folder.appendingPathComponent("Plans"), withIntermediateDirectories: true)
        for plan in plans {
            try Data("{}".utf8).write(to: folder.appendingPathComponent("Plans/\(plan).json5"))
        }
        let tool = folder.appendingPathComponent("assay")
        let script = """
            #!/bin/sh
            echo "$*" >>"\(folder.path)/calls"
            case $2 in
            broken)
                echo "  ✗ Strata: the process took more memory than it may in large-migration"
                echo "    too much"
                echo "  ✗ Strata: acknowledged data was gone in other (3 of 4)"
                exit 2 ;;
            soak)
                echo "  3 cases:"
                echo "wrong  object-history strata  a card"
                echo "  assay replay x"
                echo "  1 case:"
                echo "lost  one-case strata  a row"
                exit 2 ;;
            stuck) echo "no such engine" >&2; exit 1 ;;
            open) exit 3 ;;
            esac
            """
        try Data(script.utf8).write(to: tool)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
        let process = Process()
        process.executableURL = Checkout.root.appendingPathComponent("Tools/plans")
        process.arguments = named
        process.environment = [
            "PATH": "/usr/bin:/bin", "ASSAY": tool.path, "PLANS_DIR": folder.path + "/Plans", "BUDGET": budget,
            "OUT": folder.path + "/out",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let calls = (try? String(contentsOf: folder.appendingPathComponent("calls"), encoding: .utf8)) ?? ""
        let lines = (text + calls).split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ").replacingOccurrences(of: folder.path, with: "")
        }
        return (process.terminationStatus, lines)
    }

    @Test("every plan has a line with its violations, and plans after a failing one are run as well")
    func lines() throws {
        let (status, lines) = try Self.run(["broken", "fine", "open", "soak", "stuck"])
        #expect(status == 2)
        #expect(lines.contains { $0.hasPrefix("broken violation") && $0.hasSuffix("it may in large-migration") })
        #expect(lines.contains("Strata: acknowledged data was gone in other (3 of 4)"))
        #expect(lines.contains { $0.hasPrefix("fine fine") })
        #expect(lines.contains { $0.hasPrefix("open undecided") })
        #expect(lines.contains { $0.hasPrefix("soak violation") && $0.hasSuffix("object-history strata a card") })
        #expect(lines.contains("lost one-case strata a row"))
        #expect(lines.contains { $0.hasPrefix("stuck failed: 1") && $0.hasSuffix("no such engine") })
        #expect(lines.contains { $0.hasPrefix("5 plans, 2 violated, 1 that could not be run") })
        #expect(lines.contains("soak soak --minutes 30 --plans /Plans --out /out/soak"))
    }

    @Test("only the named plans are run, each for the given time")
    func chosen() throws {
        let (status, lines) = try Self.run(["broken", "fine", "open"], named: ["fine", "open"], budget: "2m")
        #expect(status == 0)
        #expect(lines.contains("run fine --plans /Plans --out /out/fine --budget 2m"))
        #expect(!lines.contains { $0.hasPrefix("broken") })
        #expect(try Self.run(["fine"], named: ["fien"]).0 == 64)
        #expect(try Self.run(["stuck"]).0 == 1)
    }
}

/// Runs Tools/docs-tables with a fake tool, on documents in a folder of the test.
@Suite struct DocsTablesToolTests {
    private static let head = "| family | scenarios | a |\n|---|---|---|\n"

    /// - Returns: the status of the script, and the documents as the script leaves them.
    private static func run(listing: String) throws -> (status: Int32, guide: String, readme: String) {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("tables-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        try files.createDirectory(at: folder.appendingPathComponent("docs"), withIntermediateDirectories: true)
        let guide = folder.appendingPathComponent("docs/assay.md")
        try Data("Before.\n\n\(head)| crash | 1 | 1 |\n| all | 1 | 1 |\n\nAfter.\n".utf8).write(to: guide)
        let readme = folder.appendingPathComponent("README.md")
        try Data("0.1: 1 scenarios, file format 2\n".utf8).write(to: readme)
        let tool = folder.appendingPathComponent("assay")
        try Data("#!/bin/sh\ncat <<'END'\n\(listing)END\n".utf8).write(to: tool)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
        let process = Process()
        process.executableURL = Checkout.root.appendingPathComponent("Tools/docs-tables")
        process.environment = ["PATH": "/usr/bin:/bin", "ASSAY": tool.path, "ROOT": folder.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }
        return (process.terminationStatus, try text(guide), try text(readme))
    }

    @Test("the script writes the table and the number that the tool prints, and changes nothing else")
    func written() throws {
        let table = Self.head + "| growth | 3 | 2 |\n| crash | 1 | 1 |\n| all | 4 | 3 |\n"
        let written = try Self.run(listing: table + "\ngrowth  a\n| not of the table |\n")
        #expect(written.status == 0)
        #expect(written.guide == "Before.\n\n\(table)\nAfter.\n")
        #expect(written.readme == "0.1: 4 scenarios, file format 2\n")
    }

    @Test("the script writes nothing if an engine is not built, or if the tool prints no table")
    func refused() throws {
        let table = Self.head + "| all | 4 | 3 |\n"
        for listing in [table + "b is not built (apt-get install libb)\n", "no table\n"] {
            let refused = try Self.run(listing: listing)
            #expect(refused.status == 1)
            #expect(refused.guide.contains("| all | 1 | 1 |"))
            #expect(refused.readme.contains("1 scenarios"))
        }
    }
}
