import Files
import RunRecords
import Seeds
import Testing

@testable import Datasets

/// The packages of a machine, which dpkg lists.
@Suite struct DebianDatasetTests {
    static let sound = """
        Package: alpha
        Status: install ok installed
        Section: libs
        Installed-Size: 120
        Architecture: amd64
        Version: 1:2.0-1
        Depends: beta (>= 1.0), ghost | gamma:any
        Description: the first
         with a second line
         .
         and a third

        Package: beta
        Version: 3
        Depends: alpha
        Description: goes round in a circle

        Package: gamma
        Installed-Size: 7
        Version: 0.1
        Depends: gamma
        """

    static func tables(_ text: String, limit: Int? = nil) throws -> TableSet {
        try DebianDataset.tables(ofControlFile: Array(text.utf8), dataset: "dpkg", limit: limit)
    }

    @Test("fields become values, and dependencies links, cycles included")
    func sound() throws {
        let set = try Self.tables(Self.sound)
        #expect(set.rejected == [])
        #expect(!set.isComparable)
        let table = set.main
        #expect(table.name == "DebianPackage")
        #expect(table.key == "name")
        #expect(table.rowCount == 3)
        #expect(
            table.values(row: 0) == [
                .text("alpha"), .text("1:2.0-1"), .text("libs"), .integer(120),
                .text("the first\nwith a second line\n\nand a third"), .links([1, 2]),
            ])
        #expect(table.value(row: 1, column: 5) == .links([0]))
        #expect(table.value(row: 1, column: 3) == .integer(0))
        #expect(table.value(row: 2, column: 5) == .links([2]), "a package may depend on itself")
    }

    @Test(
        "a bad paragraph is left out, and named with its line",
        arguments: [
            ("no colon here\nPackage: x\nVersion: 1", "line 1: no field name"),
            ("Version: 1", "line 1: no package name"),
            ("Package: x", "line 1: x has no version"),
            ("Package: x\nVersion: 1\nInstalled-Size: much", "line 3: x: the size \"much\" is no number"),
            ("Package: x\nVersion: 1\nInstalled-Size: -1", "line 3: x: the size \"-1\" is no number"),
            ("Package: x\nPackage: y\nVersion: 1", "line 2: field Package stands twice"),
            (" continued\nPackage: x\nVersion: 1", "line 1: continues no field"),
            ("Package: x\nStatus: deinstall ok config-files\nVersion: 1", "line 1: x is not installed (config-files)"),
        ])
    func badParagraph(text: String, reason: String) throws {
        let set = try Self.tables(text + "\n\nPackage: good\nVersion: 1\n")
        #expect(set.rejected == [reason])
        #expect(set.main.rowCount == 1)
        #expect(set.main.value(row: 0, column: 0) == .text("good"))
    }

    @Test("bytes that are not UTF-8 are detected")
    func notUTF8() throws {
        var bytes = Array("Package: x\nVersion: 1\nDescription: ".utf8)
        bytes.append(0xFF)
        bytes += Array("\n\nPackage: good\nVersion: 1\n".utf8)
        let set = try DebianDataset.tables(ofControlFile: bytes, dataset: "dpkg")
        #expect(set.rejected == ["line 3: not UTF-8"])
        #expect(set.main.rowCount == 1)
    }

    @Test("a package of a second architecture has it in its name, a real duplicate is left out")
    func architectures() throws {
        let set = try Self.tables(
            """
            Package: x
            Architecture: amd64
            Version: 1

            Package: x
            Architecture: i386
            Version: 1

            Package: x
            Architecture: i386
            Version: 2
            """)
        #expect((0..<2).map { set.main.value(row: $0, column: 0) } == [.text("x"), .text("x:i386")])
        #expect(set.rejected == ["line 9: x:i386 stands there twice"])
    }

    @Test("a dependency on a missing package is reported, and becomes no link")
    func missingDependency() throws {
        let set = try Self.tables("Package: x\nVersion: 1\nDepends: ghost (>= 2) | spirit, x\n")
        #expect(set.main.value(row: 0, column: 5) == .links([0]))
        #expect(set.rejected == ["line 3: x depends on ghost | spirit, which is not there"])
    }

    @Test("the first packages alone can be taken; links to others are reported")
    func limit() throws {
        let set = try Self.tables(Self.sound, limit: 2)
        #expect(set.main.rowCount == 2)
        #expect(set.main.value(row: 0, column: 5) == .links([1]))
        #expect(set.rejected == ["line 7: alpha depends on ghost | gamma, which is not there"])
    }

    @Test("carriage returns end lines, and lines of spaces end paragraphs")
    func lineEnds() throws {
        let set = try Self.tables("Package: a\r\nVersion: 1\r\n \t\r\nPackage: b\r\nVersion: 2\r\n")
        #expect(set.main.rowCount == 2)
        #expect(set.main.value(row: 1, column: 1) == .text("2"))
    }

    @Test("equal content has an equal digest, other content another")
    func digest() throws {
        let first = try Self.tables(Self.sound)
        #expect(try Self.tables(Self.sound).digest == first.digest)
        #expect(try Self.tables(Self.sound + "\nPriority: low").digest == first.digest)
        #expect(try Self.tables(Self.sound + "\nSection: x").digest != first.digest)
    }

    @Test("a machine without the file gets an error with the remedy")
    func missingFile() throws {
        let missing = DebianDataset(path: "/nowhere/status")
        let error = #expect(throws: DatasetError.self) { try missing.tables(size: nil, seed: Seed(0)) }
        #expect(error?.message.contains("--dataset FILE") == true)
        #expect(throws: DatasetError.self) { try Self.tables("\n\n") }
    }

    @Test("this machine's own packages can be read, if it has any")
    func ownMachine() throws {
        guard FileTree.exists(DebianDataset.statusFile) else { return }
        let set = try DebianDataset().tables(size: nil, seed: Seed(0))
        guard case .links(_, let links)? = set.main.column("depends")?.values else {
            Issue.record("no column depends")
            return
        }
        #expect(set.main.rowCount > 50)
        #expect(links.targets.count > set.main.rowCount / 2)
        #expect(links.targets.allSatisfy { $0 >= 0 && $0 < set.main.rowCount })
    }
}
