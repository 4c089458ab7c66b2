import JSONText
import Seeds

// One case as JSON: its line in results.jsonl, and its file in series/.

extension Case {
    package var json: JSONValue {
        .object([
            JSONMember("scenario", .string(scenario)), JSONMember("family", .string(family.rawValue)),
            JSONMember("engine", .string(engine)), JSONMember("dataset", .string(dataset)),
            JSONMember("size", .integer(size)), JSONMember("durability", .string(durability.rawValue)),
            JSONMember("seed", .unsigned(seed.rawValue)),
            JSONMember("parameters", .object(parameters.map { JSONMember($0.name, .string($0.value)) })),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        let parameters = try json.object("parameters")
        guard case .object(let members) = parameters.value else {
            throw JSONShapeError(path: parameters.path, expected: "an object")
        }
        var list: [CaseParameter] = []
        for member in members {
            list.append(CaseParameter(name: member.name, value: try parameters.string(member.name)))
        }
        self.init(
            scenario: try json.string("scenario"), family: try json.choice("family", of: Family.self),
            engine: try json.string("engine"), dataset: try json.string("dataset"), size: try json.integer("size"),
            parameters: list, seed: Seed(try json.unsigned("seed")),
            durability: try json.choice("durability", of: DurabilityClass.self))
    }
}

extension Sample {
    package var json: JSONValue {
        var members = [
            JSONMember("metric", .string(metric.name)), JSONMember("unit", .string(metric.unit)),
            JSONMember("direction", .string(metric.direction.rawValue)),
            JSONMember("kind", .string(metric.kind.rawValue)), JSONMember("statistic", .string(statistic)),
            JSONMember("value", .real(value)), JSONMember("n", .integer(count)),
        ]
        if !label.isEmpty { members.append(JSONMember("label", .string(label))) }
        if let low { members.append(JSONMember("ci_low", .real(low))) }
        if let high { members.append(JSONMember("ci_high", .real(high))) }
        return .object(members)
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        let metric = Metric(
            try json.string("metric"), unit: try json.string("unit"),
            try json.choice("direction", of: Metric.Direction.self), try json.choice("kind", of: Metric.Kind.self))
        // A value that was not finite is written as null.
        self.init(
            metric, json.has("value") ? try json.real("value") : .nan, statistic: try json.string("statistic"),
            count: try json.integer("n"), label: json.has("label") ? try json.string("label") : "",
            low: json.has("ci_low") ? try json.real("ci_low") : nil,
            high: json.has("ci_high") ? try json.real("ci_high") : nil)
    }
}

extension Trial {
    package var json: JSONValue {
        var members = [
            JSONMember("address", .string(address.text)), JSONMember("outcome", .string(outcome.rawValue)),
            JSONMember("detail", .string(detail)),
        ]
        if let signal { members.append(JSONMember("signal", .integer(Int(signal)))) }
        return .object(members)
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            address: FaultAddress(text: try json.string("address")),
            outcome: try json.choice("outcome", of: Outcome.self), detail: try json.string("detail"),
            signal: json.has("signal") ? Int32(truncatingIfNeeded: try json.integer("signal")) : nil)
    }
}

extension CrashReport {
    package var json: JSONValue {
        var members: [JSONMember] = []
        if let signal { members.append(JSONMember("signal", .integer(Int(signal)))) }
        if let exitStatus { members.append(JSONMember("exit_status", .integer(Int(exitStatus)))) }
        members.append(JSONMember("stderr", .string(standardError)))
        return .object(members)
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            signal: json.has("signal") ? Int32(truncatingIfNeeded: try json.integer("signal")) : nil,
            exitStatus: json.has("exit_status") ? Int32(truncatingIfNeeded: try json.integer("exit_status")) : nil,
            standardError: try json.string("stderr"))
    }
}

extension CaseResult {
    package var json: JSONValue {
        var members = [
            JSONMember("case", .string(test.id)), JSONMember("round", .integer(turn.round)),
            JSONMember("side", .string(turn.side.rawValue)), JSONMember("test", test.json),
            JSONMember("engine_version", .string(engineVersion)),
            JSONMember("settings", .object(settings.map { JSONMember($0.name, .string($0.value)) })),
            JSONMember("verdict", .string(verdict.rawValue)),
        ]
        if let outcome { members.append(JSONMember("outcome", .string(outcome.rawValue))) }
        members += [
            JSONMember("outcomes", findings.outcomeCounts), JSONMember("samples", .array(findings.samples.map(\.json))),
            JSONMember("trials", .array(findings.trials.map(\.json))),
            JSONMember("message", .string(message)),
        ]
        if !findings.causes.isEmpty { members.append(JSONMember("causes", .array(findings.causes.map(\.json)))) }
        if !promises.isEmpty { members.append(JSONMember("promises", .array(promises.map(\.json)))) }
        if let crash { members.append(JSONMember("crash", crash.json)) }
        members += [
            JSONMember("duration_ns", .unsigned(durationNanoseconds)), JSONMember("cut", .bool(findings.isCut)),
            JSONMember("free_schedule", .bool(hasFreeSchedule)),
        ]
        if restsOnSyncs { members.append(JSONMember("rests_on_syncs", .bool(true))) }
        return .object(members)
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            test: try Case(json: try json.object("test")), verdict: try json.choice("verdict", of: Verdict.self),
            turn: Turn(round: try json.integer("round"), side: try json.choice("side", of: Turn.Side.self)))
        engineVersion = try json.string("engine_version")
        let settings = try json.object("settings")
        if case .object(let members) = settings.value {
            for member in members {
                self.settings.append(EngineSetting(member.name, try settings.string(member.name)))
            }
        }
        outcome = json.has("outcome") ? try json.choice("outcome", of: Outcome.self) : nil
        findings = try CaseFindings(json: json)
        if json.has("promises") {
            for reader in try json.objects("promises") { promises.append(try JudgedPromise(json: reader)) }
        }
        message = try json.string("message")
        crash = json.has("crash") ? try CrashReport(json: try json.object("crash")) : nil
        durationNanoseconds = try json.unsigned("duration_ns")
        hasFreeSchedule = try json.bool("free_schedule")
        restsOnSyncs = json.has("rests_on_syncs") ? try json.bool("rests_on_syncs") : false
    }
}
