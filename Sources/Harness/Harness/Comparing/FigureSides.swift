import Files
import JSONText
import Platform
import RunRecords
import Statistics

/// Runs a program to its end, with its output in files.
package enum ProgramRun {
    /// The standard output of the program. Throws: `HarnessError` with the end of what it printed if its status is not
    /// 0.
    package static func output(of words: [String], directory: String) throws -> [UInt8] {
        let (output, errors) = ("\(directory)/program.output", "\(directory)/program.errors")
        var actions = Spawning.blankFileActions
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_CREAT | O_TRUNC | O_WRONLY
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o644)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o644)
        var processID: pid_t = 0
        let started = CommandVector.with(words) { arguments in
            posix_spawn(&processID, words[0], &actions, nil, arguments, KernelCalls.environment)
        }
        guard started == 0 else {
            throw HarnessError("cannot start \(words[0]): \(String(cString: strerror(started)))")
        }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else {
            let said = try FileTree.readText(errors) + (try FileTree.readText(output))
            throw HarnessError(
                "\(words.joined(separator: " ")) ended with \(ChildEnd(waitStatus: status)): \(said.suffix(400))")
        }
        return try FileTree.readBytes(output)
    }
}

/// The control programs, as one side of a verification of figures.
package struct ControlSide {
    let list: ControlList
    /// The directory of the programs.
    let programs: String
    let directory: String
    let rows: Int

    package init(list: ControlList, programs: String, directory: String, rows: Int) {
        (self.list, self.programs, self.directory, self.rows) = (list, programs, directory, rows)
    }

    /// The path of an engine's program, built or not; nil if the list has none.
    package func program(_ engine: String) -> String? {
        list.programs.first { $0.engine == engine }.map { "\(programs)/\($0.words[0])" }
    }

    package func measure(_ figure: ControlledFigure, engine: String, round: Int) throws -> [Double] {
        guard let (_, words) = list.programs.first(where: { $0.engine == engine }) else {
            throw HarnessError("no control of \(engine)")
        }
        let place = "\(directory)/\(engine)"
        try FileTree.createDirectory(place)
        func command(_ workload: String, _ seed: Int) -> [String] {
            ["\(programs)/\(words[0])", workload] + words.dropFirst()
                + ["--directory", place, "--rows", "\(figure.rows ?? rows)", "--seed", "\(seed)"]
        }
        if figure.isPrepared { _ = try ProgramRun.output(of: command("prepare", 1), directory: directory) }
        var values = [[Double]](repeating: [], count: figure.values.count)
        for repetition in 0..<figure.repeats {
            let seed = round * figure.repeats + repetition + 1
            let line = try ProgramRun.output(
                of: command(figure.workload, seed) + figure.controlArguments, directory: directory)
            let json = try JSONObjectReader(try JSONReader.read(line), path: words[0])
            for (index, value) in figure.values.enumerated() { values[index].append(try json.real(value.member)) }
        }
        return values.map { MedianInterval.median($0) }
    }
}

/// The harness itself, as the other side: each measurement is `assay run` of one case.
package struct AssaySide {
    let executable: String
    let directory: String
    let rows: Int

    package init(executable: String, directory: String, rows: Int) {
        (self.executable, self.directory, self.rows) = (executable, directory, rows)
    }

    package func measure(_ figure: ControlledFigure, engine: String, round: Int) throws -> [Double] {
        let size = figure.rows ?? rows
        let (plan, out) = ("\(directory)/figure.json5", "\(directory)/run")
        let parameters = figure.parameters.map { "\"\($0.name)\": \"\($0.value)\"" }.joined(separator: ", ")
        try FileTree.replaceText(
            plan,
            """
            { engines: ["\(engine)"],
              cases: [{ scenario: "\(figure.workload)", sizes: [\(size)], parameters: { \(parameters) } }] }

            """)
        _ = try ProgramRun.output(
            of: [executable, "run", plan, "--seed", "\(round + 1)", "--out", out], directory: directory)
        let results = try RunDirectory(path: out).readResults().results
        try FileTree.remove(out)
        guard results.count == 1, let result = results.first, result.verdict == .pass, !result.isCut else {
            throw HarnessError("\(figure.name) on \(engine): \(results.first?.message ?? "no result")")
        }
        return try figure.values.map { value in
            let samples = result.samples.filter { $0.metric.name == value.metric && $0.label == value.label }
            guard let sample = samples.first else {
                throw HarnessError("\(figure.workload) on \(engine) has no figure \(value.metric) \(value.label)")
            }
            return sample.value
        }
    }
}
