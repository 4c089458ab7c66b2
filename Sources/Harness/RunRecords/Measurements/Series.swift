import JSONText

/// The sizes of a database at one moment of a case.
package struct SizePoint: Hashable, Sendable {
    /// A number of steps, mostly of commits: `Series.step` is their unit.
    package var position: Int
    /// The size of all files of the database together, without the log.
    package var fileBytes: Int
    /// Bytes that the newest version uses; nil if the engine does not report it.
    package var liveBytes: Int?
    /// Bytes inside the file that can be reused at once; nil if the engine does not report it.
    package var freeBytes: Int?
    package var logBytes: Int
    /// The oldest version that a reader pins; nil if there is none or the engine does not report it.
    package var oldestPinnedVersion: Int?

    package init(
        position: Int = 0, fileBytes: Int, liveBytes: Int? = nil, freeBytes: Int? = nil, logBytes: Int = 0,
        oldestPinnedVersion: Int? = nil
    ) {
        self.position = position
        self.fileBytes = fileBytes
        self.liveBytes = liveBytes
        self.freeBytes = freeBytes
        self.logBytes = logBytes
        self.oldestPinnedVersion = oldestPinnedVersion
    }
}

/// Sizes over the course of a case.
package struct Series: Hashable, Sendable {
    package var name: String
    /// The unit of `SizePoint.position`: `commits`, `deletions`.
    package var step: String
    package var kind: Metric.Kind
    package var points: [SizePoint]

    package init(name: String, step: String, kind: Metric.Kind = .measured, points: [SizePoint] = []) {
        self.name = name
        self.step = step
        self.kind = kind
        self.points = points
    }
}

extension SizePoint: JSONForm {
    /// An array instead of an object, since a series has many points. An unknown value is null.
    package var json: JSONValue {
        let fields: [Int?] = [position, fileBytes, liveBytes, freeBytes, logBytes, oldestPinnedVersion]
        return .array(fields.map { $0?.json ?? .null })
    }

    package init(json: JSONValue) throws(JSONShapeError) {
        let fields = try [JSONValue](json: json)
        guard fields.count == 6 else { throw JSONShapeError(expected: "six numbers") }
        func optional(_ field: JSONValue) throws(JSONShapeError) -> Int? { field == .null ? nil : try Int(json: field) }
        self.init(
            position: try Int(json: fields[0]), fileBytes: try Int(json: fields[1]), liveBytes: try optional(fields[2]),
            freeBytes: try optional(fields[3]), logBytes: try Int(json: fields[4]),
            oldestPinnedVersion: try optional(fields[5]))
    }
}

extension Series: JSONRecord {
    package static let blank = Series(name: "", step: "")
    package static let fields: [JSONField<Series>] = [
        .member("name", \.name), .member("step", \.step), .member("kind", \.kind),
        .derived("fields") { _ in .strings(["position", "file", "live", "free", "log", "oldest_pinned_version"]) },
        .member("points", \.points),
    ]
}
