import Platform
import Testing

/// A real engine, and a real program in Swift.
@Suite(.enabled(if: PreloadedProgram.isPossible, "not under a sanitizer"))
struct ProgramTests {
    private static let script = """
        import ctypes, sqlite3, sys
        io = ctypes.CDLL(None)
        commit = (ctypes.c_uint64 * 4)()
        database = sqlite3.connect("people.db", isolation_level=None)
        database.execute("pragma journal_mode=" + sys.argv[1])
        database.execute("pragma synchronous=" + sys.argv[2])
        database.execute("create table people(name)")
        for index in range(50):
            io.assay_commit_begin(commit)
            database.execute("insert into people values(?)", ("a person",))
            print("commit", io.assay_commit_end(commit))
        """

    static let python: String? = {
        let output = P_tmpdir + "/assay-python-" + String(getpid())
        defer { unlink(output) }
        let words = ["/bin/sh", "-c", "python3 -c 'import sqlite3, ctypes, sys; print(sys.executable)'"]
        guard (try? PreloadedProgram.spawn(words, output: output)) == 0, let text = try? PreloadedProgram.read(output)
        else { return nil }
        return text.split(separator: "\n").last.map(String.init)
    }()

    // The last argument is the witness's answer for each commit: 1 synced, 3 not. With OFF, SQLite never syncs; with
    // NORMAL it syncs a WAL only before a checkpoint. In the other journal modes, the journal and the database together
    // are the log: SQLite syncs the database last.
    @Test(
        "SQLite's commits are synced exactly when configured",
        .enabled(if: python != nil, "python3 with the modules sqlite3 and ctypes is not here"),
        arguments: [
            ("wal", "full", "*-wal", 1), ("wal", "normal", "*-wal", 3), ("wal", "off", "*-wal", 3),
            ("delete", "full", "*-journal:people.db", 1), ("delete", "off", "*-journal:people.db", 3),
            ("truncate", "full", "*-journal:people.db", 1), ("persist", "full", "*-journal:people.db", 1),
        ])
    func sqlite(journal: String, synchronous: String, logs: String, answer: Int) throws {
        let directory = try TestDirectory()
        let python = try #require(Self.python)
        let script = directory.path + "/script.py"
        try PreloadedProgram.write(Self.script, to: script)
        let program = try PreloadedProgram.run(
            [python, script, journal, synchronous], in: directory, logs: logs,
            libraries: [try PreloadedProgram.library()])
        #expect(program.status == 0, "\(program.text)")
        #expect(program.commits == Array(repeating: answer, count: 50))
    }

    @Test("a program in Swift finds the witness, and its recorder counts the answers")
    func swiftProgram() throws {
        let directory = try TestDirectory()
        let folder = try #require(PreloadedProgram.folder)
        let command = [folder + "/WitnessProbe", directory.path]
        let library = try PreloadedProgram.library()
        let honest = try PreloadedProgram.run(command, in: directory, logs: "", libraries: [library], watches: false)
        #expect(
            honest.text == """
                witness present
                commits 10 synced 10 unsynced 0
                writes 10 bytes 60 syncs 10

                """)
        let liar = try PreloadedProgram.run(
            command + ["lie"], in: directory, logs: "", libraries: [library], watches: false)
        #expect(liar.text.contains("commits 10 synced 0 unsynced 10"), "\(liar.text)")
        let alone = try PreloadedProgram.run(command, in: directory, logs: "", libraries: [], watches: false)
        #expect(alone.text.contains("witness absent\ncommits 10 synced 0 unsynced 0"), "\(alone.text)")
    }
}
