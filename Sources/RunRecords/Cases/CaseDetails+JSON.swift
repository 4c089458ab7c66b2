import JSONText
import Measuring

extension SizePoint {
    /// An array instead of an object, since a series has many points. An unknown value is null.
    package var json: JSONValue {
        func optional(_ value: Int?) -> JSONValue {
            value.map { .integer($0) } ?? .null
        }
        return .array([
            .integer(position), .integer(fileBytes), optional(liveBytes), optional(freeBytes), .integer(logBytes),
            optional(oldestPinnedVersion),
        ])
    }

    package init(json: JSONValue, path: String) throws(JSONShapeError) {
        guard case .array(let fields) = json, fields.count == 6 else {
            throw JSONShapeError(path: path, expected: "six numbers")
        }
        func optional(_ field: JSONValue) throws(JSONShapeError) -> Int? {
            switch field {
            case .integer(let number): return Int(number)
            case .null: return nil
            default: throw JSONShapeError(path: path, expected: "integers or null")
            }
        }
        func integer(_ field: JSONValue) throws(JSONShapeError) -> Int {
            guard let number = try optional(field) else { throw JSONShapeError(path: path, expected: "an integer") }
            return number
        }
        self.init(
            position: try integer(fields[0]), fileBytes: try integer(fields[1]), liveBytes: try optional(fields[2]),
            freeBytes: try optional(fields[3]), logBytes: try integer(fields[4]),
            oldestPinnedVersion: try optional(fields[5]))
    }
}

extension Series {
    package var json: JSONValue {
        .object([
            JSONMember("name", .string(name)), JSONMember("step", .string(step)),
            JSONMember("kind", .string(kind.rawValue)),
            JSONMember(
                "fields", .strings(["position", "file", "live", "free", "log", "oldest_pinned_version"])),
            JSONMember("points", .array(points.map(\.json))),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        self.init(
            name: try json.string("name"), step: try json.string("step"),
            kind: try json.choice("kind", of: Metric.Kind.self))
        for (index, point) in try json.array("points").enumerated() {
            points.append(try SizePoint(json: point, path: "\(json.path).points[\(index)]"))
        }
    }
}

extension NamedHistogram {
    package var json: JSONValue {
        .object([
            JSONMember("name", .string(name)),
            JSONMember(
                "buckets",
                .array(histogram.sparse.map { .array([.integer($0.index), .unsigned($0.count)]) })),
            JSONMember("min", .unsigned(histogram.minimum)), JSONMember("max", .unsigned(histogram.maximum)),
            JSONMember("sum", .unsigned(histogram.sum)),
        ])
    }

    package init(json: JSONObjectReader) throws(JSONShapeError) {
        let shape = JSONShapeError(path: json.path + ".buckets", expected: "pairs of bucket and count that agree")
        var buckets: [(index: Int, count: UInt64)] = []
        for element in try json.array("buckets") {
            guard case .array(let pair) = element, pair.count == 2, case .integer(let index) = pair[0] else {
                throw shape
            }
            switch pair[1] {
            case .integer(let count) where count > 0: buckets.append((Int(index), UInt64(count)))
            case .string(let text):
                guard let count = UInt64(text) else { throw shape }
                buckets.append((Int(index), count))
            default: throw shape
            }
        }
        guard
            let histogram = Histogram(
                sparse: buckets, minimum: try json.unsigned("min"), maximum: try json.unsigned("max"),
                sum: try json.unsigned("sum"))
        else { throw shape }
        self.init(name: try json.string("name"), histogram: histogram)
    }
}

extension CaseDetails {
    /// Everything but the trials, which are in a file of their own, a byte each.
    package var json: JSONValue {
        var members = [
            JSONMember("series", .array(series.map(\.json))),
            JSONMember("histograms", .array(histograms.map(\.json))),
        ]
        if let map { members.append(JSONMember("map", map.json)) }
        return .object(members)
    }

    package init(json: JSONObjectReader, trialCodes: [UInt8]) throws(JSONShapeError) {
        self.init(trialCodes: trialCodes)
        for reader in try json.objects("series") { series.append(try Series(json: reader)) }
        for reader in try json.objects("histograms") { histograms.append(try NamedHistogram(json: reader)) }
        // Drops a map whose length differs from that of the trials: it would show wrong positions.
        if json.has("map") {
            let read = try SweepMap(json: try json.object("map"), limit: trialCodes.count)
            map = read.positions.count == trialCodes.count ? read : nil
        }
    }
}
