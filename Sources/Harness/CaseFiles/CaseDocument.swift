import JSONText
import RunRecords
import Seeds

/// The JSON document of a case file: a member per line, and of lists an element per line, for editing by hand.
struct CaseDocument {
    let file: CaseFile

    /// Without its digest.
    private var members: [JSONMember] {
        var members = [
            JSONMember("format", .string(CaseFile.format)), JSONMember("kind", .string(file.kind)),
            JSONMember("build", file.build.json),
        ]
        switch file.subject {
        case .scenario(let test, let fault):
            members += [JSONMember("case", test.json), JSONMember("faults", .strings(fault.map { [$0.text] } ?? []))]
        case .history(let test, let operations, let fault):
            members += [
                JSONMember("case", test.leavingOut(CaseFile.historyParameter).json),
                JSONMember("operations", .array(operations.map(\.json))),
                JSONMember("faults", .strings(fault.map { [$0.text] } ?? [])),
            ]
        case .program(let program):
            members += [
                JSONMember("arguments", .strings(program.arguments)), JSONMember("faults", .strings([program.address])),
            ]
        }
        members += [JSONMember("expected", .string(file.expected)), JSONMember("got", file.got.json)]
        if file.isFree { members.append(JSONMember("free_schedule", .bool(true))) }
        if let rate = file.rate {
            members.append(
                JSONMember("replayed", .members([("same", .integer(rate.same)), ("of", .integer(rate.times))])))
        }
        if !file.origin.isEmpty { members.append(JSONMember("from", .string(file.origin))) }
        return members
    }

    /// With its digest.
    var text: String {
        let members = self.members + [JSONMember("digest", .string(Self.digest(of: self.members)))]
        var lines: [String] = []
        for (index, member) in members.enumerated() {
            let end = index == members.count - 1 ? "" : ","
            let name = JSONValue.string(member.name).text
            if case .array(let elements) = member.value, elements.count > 1 {
                lines.append("  \(name): [")
                for (place, element) in elements.enumerated() {
                    lines.append("    \(element.text)\(place == elements.count - 1 ? "" : ",")")
                }
                lines.append("  ]\(end)")
            } else {
                lines.append("  \(name): \(member.value.text)\(end)")
            }
        }
        return "{\n" + lines.joined(separator: "\n") + "\n}\n"
    }

    /// The digest of a document's members, independent of its spacing.
    static func digest(of members: [JSONMember]) -> String {
        StableHash.identifier(of: JSONValue.object(members.filter { $0.name != "digest" }).text)
    }
}

extension ScriptOperation {
    var json: JSONValue {
        .members([
            ("label", .string(label)), ("do", .string(action)), ("with", .array(arguments.map { .integer($0) })),
        ])
    }
}

extension CaseFile.Build {
    var json: JSONValue {
        .members([
            ("assay", .string(version)), ("digest", .string(digest)), ("commit", .string(commit)),
            ("engine_version", .string(engineVersion)),
        ])
    }
}

extension CaseFile.Finding {
    var json: JSONValue {
        .members([("outcome", .string(outcome)), ("cause", .string(cause)), ("detail", .string(detail))])
    }
}
