import CaseFiles
import Commands
import Harness

struct ShowCommand: Command {
    let name = "show"
    let summary = "prints the contents of a case file as sentences"
    let question = "which operations and which fault led to which failure?"
    let positional = ["FILE"]
    let examples = [
        CommandExample("show FILE", "FILE is one of D/cases, or a case file of a soak")
    ]
    let exitStatus = "0 shown"
    let options: [OptionSpecification] = []

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let read = try CaseFileReader.read(path: path)
        let scenario = read.file.test.flatMap { BuildRegistries.make().scenarios.scenario(named: $0.scenario) }
        let lines = CaseText(read.file).lines(
            path: path, isEdited: read.isEdited, question: scenario?.question,
            words: { (scenario as? any ScriptedScenario)?.words(of: "\($0)") })
        for line in lines { try Output.line(line) }
        return 0
    }
}
