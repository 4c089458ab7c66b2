import Commands
import Files
import Harness
import JSONText
import RunRecords
import Seeds

/// A parsed case file.
package struct ReadCaseFile: Sendable {
    package var file: CaseFile
    /// Its digest does not match its content: it was edited. It is run all the same.
    package var isEdited: Bool
}

/// Reads case files, and reports the place of a mistake with its remedy.
package struct CaseFileReader {
    private let file: String

    private init(file: String) { self.file = file }

    /// Throws: `PlanError` for a file that is not a case file of this version; `HarnessError` for an unreadable file.
    package static func read(path: String) throws -> ReadCaseFile {
        guard FileTree.exists(path) else {
            throw PlanError(file: path, "there is no such file; runs keep theirs under cases/, see assay run --help")
        }
        guard !FileTree.isDirectory(path) else {
            throw PlanError(file: path, "is a directory: name one of its files that end in \(CaseFile.ending)")
        }
        return try read(try FileTree.readText(path), file: path)
    }

    package static func read(_ text: String, file: String) throws(PlanError) -> ReadCaseFile {
        let root: JSONNode
        do throws(PlanError) {
            root = try JSONNode.read(text, file: file)
        } catch {
            var error = error
            error.message += "; the file is damaged or cut short: take another copy of it"
            throw error
        }
        return try CaseFileReader(file: file).read(root)
    }

    // MARK: The document

    private func read(_ root: JSONNode) throws(PlanError) -> ReadCaseFile {
        let members = try root.members(file)
        try checkFormat(members, root)
        let everywhere = [
            "format", "kind", "build", "faults", "expected", "got", "free_schedule", "replayed", "from", "digest",
        ]
        let own = ["scenario": ["case"], "history": ["case", "operations"], "program": ["arguments"]]
        guard let kind = members.first(where: { $0.name == "kind" }) else {
            throw missing("kind", in: "a case file", root)
        }
        let name = try kind.value.name(file)
        guard let names = own[name.text] else {
            throw PlanError(
                file: file, NearestName.complaint("kind of case file", name.text, among: own.keys.sorted()),
                at: name.position)
        }
        let reader = try object(root, "a case file of kind \(name.text)", known: everywhere + names)
        let subject = try subject(name.text, reader, root)
        var read = CaseFile(
            build: try build(try required(reader, "build", root)), subject: subject,
            expected: try text(reader, "expected", root), got: try finding(try required(reader, "got", root), subject))
        read.isFree = try reader.flag("free_schedule") ?? false
        read.rate = try reader.member("replayed").map { node throws(PlanError) in try rate(node.value) }
        read.origin = try reader.string("from") ?? ""
        let said = try reader.string("digest") ?? ""
        let values = members.map { JSONMember($0.name, $0.value.value) }
        return ReadCaseFile(file: read, isEdited: said != CaseDocument.digest(of: values))
    }

    /// Checked first: the content of other versions is unknown.
    private func checkFormat(_ members: [JSONNode.Member], _ root: JSONNode) throws(PlanError) {
        guard let format = members.first(where: { $0.name == "format" }) else {
            throw PlanError(
                file: file, "is no case file: it has no format. Name a file that assay run kept under cases/",
                at: root.position)
        }
        let name = try format.value.name(file)
        if name.text == CaseFile.format { return }
        let isOther = name.text.hasPrefix("assay-case/")
        throw PlanError(
            file: file,
            isOther
                ? "is of format \(name.text), and this build reads \(CaseFile.format): use a build that reads it"
                : "is of format \(name.text), which is no case file's (\(CaseFile.format))",
            at: name.position)
    }

    private func subject(
        _ kind: String, _ reader: PlanObject, _ root: JSONNode
    ) throws(PlanError) -> CaseFile.Subject {
        let faults = try faults(reader)
        if kind == "program" {
            let arguments = try required(reader, "arguments", root)
            var words: [String] = []
            for node in try arguments.elements(file) { words.append(try node.name(file).text) }
            guard !words.isEmpty, let address = faults.first else {
                throw PlanError(
                    file: file, "a program's case needs its arguments and one fault", at: arguments.position)
            }
            return .program(ProgramCase(arguments: words, address: address.text))
        }
        let test = try test(try required(reader, "case", root))
        guard kind == "history" else { return .scenario(test, fault: faults.first) }
        let list = try required(reader, "operations", root)
        let operations = try operations(list)
        guard !operations.isEmpty else {
            throw PlanError(file: file, "a history needs at least one operation", at: list.position)
        }
        return .history(test, operations, fault: faults.first)
    }

    private func faults(_ reader: PlanObject) throws(PlanError) -> [FaultAddress] {
        guard let member = reader.member("faults") else { return [] }
        var addresses: [FaultAddress] = []
        for node in try member.value.elements(file) {
            addresses.append(FaultAddress(text: try node.name(file).text))
        }
        guard addresses.count <= 1 else {
            throw PlanError(
                file: file, "\(addresses.count) faults, and this build replays one: leave one in",
                at: member.value.position)
        }
        return addresses
    }

    // MARK: Parts

    private func test(_ node: JSONNode) throws(PlanError) -> Case {
        let known = ["scenario", "family", "engine", "dataset", "size", "durability", "seed", "parameters"]
        let reader = try object(node, "a case", known: known)
        let list = try required(reader, "parameters", node)
        var parameters: [CaseParameter] = []
        for member in try list.members(file) {
            parameters.append(CaseParameter(name: member.name, value: try member.value.scalar(file).text))
        }
        return Case(
            scenario: try text(reader, "scenario", node),
            family: try choice(reader, "family", node: node, choices: Family.allCases.map { ($0.rawValue, $0) }),
            engine: try text(reader, "engine", node), dataset: try text(reader, "dataset", node),
            size: try required(reader, "size", node).integer(file), parameters: parameters,
            seed: try seed(try required(reader, "seed", node)),
            durability: try choice(
                reader, "durability", node: node, choices: DurabilityClass.allCases.map { ($0.rawValue, $0) }))
    }

    /// A number, or above 2^53 a text.
    private func seed(_ node: JSONNode) throws(PlanError) -> Seed {
        if case .string(let text) = node.content, let number = UInt64(text) { return Seed(number) }
        guard case .integer(let number) = node.content, number >= 0 else {
            throw PlanError(file: file, "seed needs a whole number from 0", at: node.position)
        }
        return Seed(UInt64(number))
    }

    private func operations(_ node: JSONNode) throws(PlanError) -> [ScriptOperation] {
        var operations: [ScriptOperation] = []
        var labels: Set<String> = []
        for element in try node.elements(file) {
            let reader = try object(element, "an operation", known: ["label", "do", "with"])
            let label = try text(reader, "label", element)
            let action = try text(reader, "do", element)
            for word in [label, action] where !ScriptOperation.isWord(word) {
                throw PlanError(
                    file: file, "\"\(word)\" is no word: letters, digits and dashes alone", at: element.position)
            }
            guard labels.insert(label).inserted else {
                throw PlanError(
                    file: file, "two operations have the label \(label): give one another", at: element.position)
            }
            operations.append(
                ScriptOperation(label: label, action: action, arguments: try reader.integers("with") ?? []))
        }
        return operations
    }

    private func build(_ node: JSONNode) throws(PlanError) -> CaseFile.Build {
        let reader = try object(node, "build", known: ["assay", "digest", "commit", "engine_version"])
        return CaseFile.Build(
            version: try text(reader, "assay", node), digest: try reader.string("digest") ?? "",
            commit: try reader.string("commit") ?? "", engineVersion: try reader.string("engine_version") ?? "")
    }

    private func finding(_ node: JSONNode, _ subject: CaseFile.Subject) throws(PlanError) -> CaseFile.Finding {
        let reader = try object(node, "got", known: ["outcome", "cause", "detail"])
        let outcome = try text(reader, "outcome", node)
        if case .program = subject {
        } else if Outcome(rawValue: outcome) == nil {
            throw PlanError(
                file: file, NearestName.complaint("outcome", outcome, among: Outcome.allCases.map(\.rawValue)),
                at: reader.member("outcome")?.value.position)
        }
        return CaseFile.Finding(
            outcome: outcome, cause: try reader.string("cause") ?? "", detail: try reader.string("detail") ?? "")
    }

    private func rate(_ node: JSONNode) throws(PlanError) -> CaseFile.Rate {
        let reader = try object(node, "replayed", known: ["same", "of"])
        return CaseFile.Rate(
            same: try required(reader, "same", node).integer(file),
            times: try required(reader, "of", node).integer(file))
    }

    // MARK: Members

    private func object(_ node: JSONNode, _ what: String, known: [String]) throws(PlanError) -> PlanObject {
        let reader = PlanObject(try node.members(file), file: file, what: what, known: known)
        try reader.checkNames()
        return reader
    }

    private func missing(_ name: String, in what: String, _ node: JSONNode) -> PlanError {
        PlanError(file: file, "\(what) needs \(name)", at: node.position)
    }

    private func required(_ reader: PlanObject, _ name: String, _ node: JSONNode) throws(PlanError) -> JSONNode {
        guard let member = reader.member(name) else { throw missing(name, in: "this part", node) }
        return member.value
    }

    private func text(_ reader: PlanObject, _ name: String, _ node: JSONNode) throws(PlanError) -> String {
        try required(reader, name, node).name(file).text
    }

    private func choice<Choice>(
        _ reader: PlanObject, _ name: String, node: JSONNode, choices: [(name: String, value: Choice)]
    ) throws(PlanError) -> Choice {
        let given = try required(reader, name, node).name(file)
        guard let found = choices.first(where: { $0.name == given.text }) else {
            throw PlanError(
                file: file, NearestName.complaint(name, given.text, among: choices.map(\.name)), at: given.position)
        }
        return found.value
    }
}
