import Files
import RunRecords
import Testing

@testable import Harness

/// Runs on an engine of a shared library, by the real executable.
@Suite(.serialized)
struct EngineLibraryRunTests {
    private let directory: TestDirectory
    private let shell: ShellProcess

    init() throws {
        directory = try TestDirectory()
        shell = try ShellProcess(directory)
        let include = "'\(SourceTree.root)/Sources/Harness/CAssayEngine/include'"
        let source = "'\(SourceTree.root)/Tests/EngineLibraries/shelf.c'"
        let clang = "clang -std=gnu11 -O1 -shared -fPIC -I \(include)"
        let end = try shell.run(
            "\(clang) -o shelf.so \(source) && \(clang) -DSHELF_VERSION='\"2.0\"' -o other.so \(source)")
        try #require(end.status == .exited(0), "clang cannot make a library: \(end.output)")
    }

    /// One scenario of each kind that drives an engine of keys and values.
    private static let scenarios = [
        "bulk-insert", "commit", "point-read", "column-sum", "ycsb-a", "update-batch", "pinned-reader", "delete-half",
        "lost-update", "bank-transfer", "kill-mid-write",
    ]

    @Test("tables, keyed rows, snapshots, transactions and kills run on a library, and the run's records name the file")
    func scenarios() throws {
        let plans = "--plans '\(SourceTree.root)/Benchmarks/Plans'"
        let names = Self.scenarios.joined(separator: ",")
        let end = try shell.run(
            "assay run smoke --engine-library ./shelf.so --engine shelf --scenario \(names) --out run \(plans)")
        #expect(end.status == .exited(0), "\(end.output)")
        let run = try RunDirectory(path: directory.path + "/run").load()
        #expect(Set(run.results.map(\.test.scenario)) == Set(Self.scenarios))
        for result in run.results where ![.pass, .notApplicable].contains(result.verdict) {
            Issue.record("\(result.test.scenario): \(result.verdict) \(result.message)")
        }
        let passed = run.results.count { $0.verdict == .pass }
        #expect(passed >= Self.scenarios.count, "\(run.results.map { "\($0.test.scenario) \($0.verdict)" })")
        let engine = try #require(run.header.engines.first)
        #expect(engine.name == "shelf" && engine.version == "1.0" && engine.file?.hasSuffix("/shelf.so") == true)
        #expect(engine.fileDigest.count == 12 && engine.promises.count == 3)
        try replays(run)
    }

    /// Replays a case with the run's own file, with another file, and with a rebuilt file at the same path.
    private func replays(_ run: Run) throws {
        let test = try #require(run.results.first { $0.test.scenario == "commit" }).test.id
        let same = try shell.run("assay replay run \(test)")
        #expect(same.status == .exited(0) && !same.output.contains("ANOTHER BUILD"), "\(same.output)")
        let other = try shell.run("assay replay run \(test) --engine-library other.so")
        #expect(other.status == .exited(0), "\(other.output)")
        #expect(other.output.contains("ANOTHER BUILD") && other.output.contains("shelf 2.0 from"), "\(other.output)")
        let changed = try shell.run("mv other.so shelf.so; assay run --resume run")
        #expect(changed.status == .exited(64), "\(changed.output)")
        #expect(changed.output.contains("shelf 1.0 from") && changed.output.contains("shelf 2.0 from"))
        let gone = try shell.run("rm shelf.so; assay replay run \(test)")
        #expect(gone.status == .exited(64) && gone.output.contains("there is no such file"), "\(gone.output)")
    }

    @Test("a library that ends its process costs its case, not the run")
    func crash() throws {
        let end = try shell.run(
            "SHELF_MISTAKE=crash assay run smoke --engine-library shelf.so --engine shelf,model --scenario point-read "
                + "--param properties=1 --out run --plans '\(SourceTree.root)/Benchmarks/Plans'")
        #expect(end.status == .exited(2) || end.status == .exited(1), "\(end.output)")
        let run = try RunDirectory(path: directory.path + "/run").load()
        #expect(run.results.filter { $0.test.engine == "model" }.map(\.verdict) == [.pass])
        #expect(run.results.filter { $0.test.engine == "shelf" }.allSatisfy { $0.verdict != .pass })
    }

    @Test("two builds of a library are the sides of a comparison")
    func sides() throws {
        let end = try shell.run(
            "assay ab --a-engine-library shelf.so --b-engine-library other.so --engine shelf --scenario point-read "
                + "--size 100 --pairs 10 --no-confirm --allow-zoo --allow-debug --out ab")
        #expect([.exited(0), .exited(2), .exited(3)].contains(end.status), "\(end.output)")
        let page = try FileTree.readText(directory.path + "/ab/ab.html")
        #expect(page.contains("shelf 1.0 from") && page.contains("shelf 2.0 from"))
        #expect(!end.output.contains("same program"), "\(end.output)")
    }
}
