import JSONText

// Shards as members of run.json.

extension Shard: JSONForm {
    package var json: JSONValue { .string(description) }

    package init(json: JSONValue) throws(JSONShapeError) {
        guard let shard = Shard(try String(json: json)) else { throw JSONShapeError(expected: "a shard such as 2/5") }
        self = shard
    }
}

extension PlanPart: JSONRecord {
    package static let blank = PlanPart(shard: .whole, planCases: [], command: "")
    package static let fields: [JSONField<PlanPart>] = [
        .member("shard", \.shard), .member("command", \.command), .member("plan_cases", \.planCases),
    ]
}

extension MergedShard: JSONRecord {
    package static let blank = MergedShard(shard: .whole, id: "", startTime: 0, machine: .blank, cases: [])
    package static let fields: [JSONField<MergedShard>] = [
        .member("shard", \.shard), .member("id", \.id), .member("time", \.startTime), .member("machine", \.machine),
        .member("cases", \.cases),
    ]
}
