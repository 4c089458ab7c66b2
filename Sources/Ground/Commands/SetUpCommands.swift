/// Prints a completion script for a shell.
struct CompletionCommand: Command {
    private enum Shell: String, CaseIterable { case bash, zsh, fish }

    let name = "completion"
    let summary = "prints a script with which bash, zsh or fish completes commands, options and names"
    let positional = ["bash|zsh|fish"]
    let options: [OptionSpecification] = []
    private let program: Program

    init(_ program: Program) { self.program = program }

    var details: [String] {
        ["The package and make install put it where the shells look for it; elsewhere read it at the start of a shell."]
    }

    var examples: [CommandExample] {
        [
            CommandExample("completion bash", "for ~/.bashrc: source <(\(program.name) completion bash)"),
            CommandExample("completion zsh", "a file _\(program.name) in a folder of fpath"),
            CommandExample("completion fish", "~/.config/fish/completions/\(program.name).fish"),
        ]
    }

    var exitStatus: String { "0 printed" }

    func run(_ arguments: Arguments) throws -> Int32 {
        let table = CompletionTable(program)
        let word = arguments.positional[0]
        switch Shell(rawValue: word) {
        case .bash: try Output.write(BashCompletion(table: table).text)
        case .zsh: try Output.write(ZshCompletion(table: table).text)
        case .fish: try Output.write(FishCompletion(table: table).text)
        case nil:
            throw UsageError(
                NearestName.complaint("shell", word, among: Shell.allCases.map(\.rawValue)), command: name)
        }
        return 0
    }
}

/// Prints the pages of the manual, made from the same descriptions as the help.
struct ManualCommand: Command {
    let name = "man"
    let summary = "prints a page of the manual, for man -l -"
    let positional = ["[COMMAND]"]
    let options = [
        OptionSpecification("--list", "the names of all pages, each as its file is called")
    ]
    private let program: Program

    init(_ program: Program) { self.program = program }

    var examples: [CommandExample] {
        let command = program.groups.first?.commands.first?.name ?? ""
        return [
            CommandExample("man \(command)", "the page of one command: .. | man -l -"),
            CommandExample("man --list", "what make install writes"),
        ]
    }

    var exitStatus: String { "0 printed" }

    func run(_ arguments: Arguments) throws -> Int32 {
        let names = program.listed.map(\.name)
        if arguments.has("--list") {
            for page in [ManualPage(program)] + program.listed.map({ ManualPage(program, $0) }) {
                try Output.line(page.fileName)
            }
            return 0
        }
        guard let word = arguments.positional.first else {
            try Output.write(ManualPage(program).text)
            return 0
        }
        guard let command = program.listed.first(where: { $0.name == word }) else {
            throw UsageError(NearestName.complaint("command", word, among: names), command: name)
        }
        try Self.checkExamples(command)
        try Output.write(ManualPage(program, command).text)
        return 0
    }

    /// Throws if the command refuses one of its own examples, or has none, so that no page with a wrong example is
    /// installed.
    static func checkExamples(_ command: any Command) throws(TableMistake) {
        for example in command.examples {
            let words = example.arguments
            do throws(UsageError) {
                guard words.first == command.name else { throw UsageError("it is one of another command") }
                _ = try Arguments(Array(words.dropFirst()), of: command)
            } catch {
                throw TableMistake(description: "the example \(example.words) of \(command.name): \(error)")
            }
        }
        if command.examples.isEmpty { throw TableMistake(description: "\(command.name) has no example") }
    }
}

/// Thrown for a command with a wrong description.
struct TableMistake: Error, CustomStringConvertible {
    let description: String
}
