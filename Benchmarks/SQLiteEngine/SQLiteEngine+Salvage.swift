#if SQLite
    import Files
    import Harness

    extension SQLiteEngine: SalvagingEngine {
        package var salvageMeans: String { SQLiteShell.found.map { "sqlite3 \($0.command)" } ?? "sqlite3" }

        package func reasonNotToSalvage() -> String? {
            SQLiteShell.found == nil ? "no sqlite3 is on the path: apt-get install sqlite3" : nil
        }

        /// One shell writes what it can read as SQL, and another one runs that SQL. Neither reports what is missing.
        package func salvage(
            _ damaged: DatabaseLocation, into rescued: DatabaseLocation
        ) throws(EngineError) -> SalvageClaim? {
            guard let shell = SQLiteShell.found else { throw EngineError(.unsupported, "no sqlite3 is on the path") }
            let script = rescued.directory + "/rescued.sql"
            do {
                let complaint = try shell.write(damaged.mainFile, to: script)
                let text = try FileTree.readText(script)
                guard text.contains("CREATE TABLE") else {
                    throw EngineError(.damaged, complaint.isEmpty ? "no table was found" : complaint)
                }
                try shell.run(script, into: rescued.mainFile)
                try FileTree.remove(script)
            } catch let error as EngineError {
                throw error
            } catch {
                throw EngineError(.refused, "\(error)")
            }
            return nil
        }
    }

    /// The installed program `sqlite3`, with the better of its two commands for damaged databases.
    struct SQLiteShell: Sendable {
        /// Searched once, in the process that forks the trials.
        static let found = look()

        /// `.recover`, or `.dump` where the shell's library was built without what `.recover` needs, as Debian's is.
        let command: String

        private static let seconds = "15"
        /// `timeout` ends the shell even if the trial that started it was killed.
        private static let words = ["timeout", "-s", "KILL", seconds, "sqlite3", "-batch", "-init", "/dev/null"]

        private static func look() -> SQLiteShell? {
            let directory: ScratchDirectory
            do { directory = try ScratchDirectory.make(in: "/tmp") } catch { return nil }
            defer { do { try directory.remove() } catch {} }
            let path = directory.files + "/probe"
            for command in [".recover", ".dump"] {
                do {
                    try run([path, "CREATE TABLE IF NOT EXISTS a(b); INSERT INTO a VALUES(7123);"], path + ".out")
                    try run([path, command], path + ".out")
                    if try FileTree.readText(path + ".out").contains("7123") { return SQLiteShell(command: command) }
                } catch {
                    return nil
                }
            }
            return nil
        }

        private static func run(_ arguments: [String], _ output: String) throws {
            var program = ChildProgram(words + arguments, outputFile: output, errorFile: output + ".err")
            program.environment = WorkerEnvironment.inherited().filter { !$0.hasPrefix("LD_PRELOAD=") }
            let end = try program.run()
            // The status of `timeout` if it killed the program, and the status 127 if sqlite3 is missing.
            if end == .exited(137) { throw EngineError(.refused, "sqlite3 was not done after \(seconds) s") }
            if end == .exited(127) { throw EngineError(.unsupported, "no sqlite3 is on the path") }
            if case .signalled(let signal) = end { throw EngineError(.refused, "sqlite3: signal \(signal)") }
        }

        /// - Returns: its error messages.
        func write(_ database: String, to script: String) throws -> String {
            try Self.run([database, command], script)
            // A dump that met damage ends with a rollback, for the user to decide: the rows that it could read are
            // committed.
            let (text, refusal) = (try FileTree.readText(script), "ROLLBACK; -- due to errors\n")
            if text.hasSuffix(refusal) {
                try FileTree.writeText(script, text.dropLast(refusal.count) + "COMMIT;\n")
            }
            let complaint = try FileTree.readText(script + ".err")
            try FileTree.remove(script + ".err")
            return complaint.split(separator: "\n").last.map(String.init) ?? ""
        }

        /// Failing statements are skipped, such as the insert of a duplicate row.
        func run(_ script: String, into database: String) throws {
            let output = script + ".out"
            try Self.run([database, ".read '\(script)'"], output)
            try FileTree.remove(output)
            try FileTree.remove(output + ".err")
        }
    }
#endif
