import JSONText

// Shards as members of run.json.

extension Shard {
    fileprivate init(json: JSONObjectReader, _ name: String) throws(JSONShapeError) {
        guard let shard = Shard(try json.string(name)) else {
            throw JSONShapeError(path: "\(json.path).\(name)", expected: "a shard such as 2/5")
        }
        self = shard
    }
}

extension PlanPart {
    var json: JSONValue {
        .object([
            JSONMember("shard", .string(shard.description)), JSONMember("command", .string(command)),
            JSONMember("plan_cases", .strings(planCases)),
        ])
    }

    init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            shard: try Shard(json: json, "shard"), planCases: try json.strings("plan_cases"),
            command: try json.string("command"))
    }
}

extension MergedShard {
    var json: JSONValue {
        .object([
            JSONMember("shard", .string(shard.description)), JSONMember("id", .string(id)),
            JSONMember("time", .integer(startTime)), JSONMember("machine", machine.json),
            JSONMember("cases", .strings(cases)),
        ])
    }

    init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            shard: try Shard(json: json, "shard"), id: try json.string("id"), startTime: try json.integer("time"),
            machine: try Machine(json: try json.object("machine")), cases: try json.strings("cases"))
    }
}
