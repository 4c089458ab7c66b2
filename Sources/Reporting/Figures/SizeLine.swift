import RunRecords

/// File size over time of one engine in one case.
struct SizeLine {
    var engine: String
    var subject: Subject
    var series: Series
    var caseID: String
    /// The case has no other series, so that its name need not be said.
    var isAlone: Bool
}

extension SizePoint {
    /// Data and log together: what the engine takes from the disk.
    var totalBytes: Int { fileBytes + logBytes }

    /// The highest that a chart of it reaches.
    var drawnBytes: Int { max(totalBytes, liveBytes ?? 0) }
}

extension RunDigest {
    /// All series with points, in plan order.
    var sizeLines: [SizeLine] {
        results.flatMap { result -> [SizeLine] in
            let id = result.test.id
            let series = (run.details[id]?.series ?? []).filter { !$0.points.isEmpty }
            return series.map {
                SizeLine(
                    engine: result.test.engine, subject: Subject(result.test), series: $0, caseID: id,
                    isAlone: series.count == 1)
            }
        }
    }
}
