import JSONText
import Measuring

/// The part of a case that is too large for its line in results.jsonl.
package struct CaseDetails: Sendable, Equatable {
    package var series: [Series]
    package var histograms: [NamedHistogram]
    /// `Outcome.code` of every trial in address order; empty for a case without a sweep.
    package var trialCodes: [UInt8]
    /// The positions that the trials of a sweep over files damaged.
    package var map: SweepMap?

    package init(
        series: [Series] = [], histograms: [NamedHistogram] = [], trialCodes: [UInt8] = [], map: SweepMap? = nil
    ) {
        self.series = series
        self.histograms = histograms
        self.trialCodes = trialCodes
        self.map = map
    }
}

extension CaseDetails: JSONRecord {
    package static let blank = CaseDetails()

    /// All members but the trials, a byte each, which a file or a member of its own holds. The caller reads them first,
    /// and passes a record with them: the map is compared with their number.
    package static let fields: [JSONField<CaseDetails>] = [
        .member("series", \.series), .member("histograms", \.histograms),
        JSONField("map", write: { $0.map?.json }) { (json, details) throws(JSONShapeError) in
            guard let json else { return }
            let read = try SweepMap(json: try JSONObjectReader(json, path: ""), limit: details.trialCodes.count)
            // Drops a map with another number of trials: it would show wrong positions.
            details.map = read.positions.count == details.trialCodes.count ? read : nil
        },
    ]
}

extension NamedHistogram: JSONForm {
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

    package init(json value: JSONValue) throws(JSONShapeError) {
        let json = try JSONObjectReader(value, path: "")
        let shape = JSONShapeError(path: ".buckets", expected: "pairs of bucket and count that agree")
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
