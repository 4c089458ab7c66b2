import RunRecords

/// File size over time of one engine in one case.
struct SizeLine {
    var engine: String
    var subject: Subject
    var series: Series
    var caseID: String
    /// Whether the case has no other series, so that its name can be left out.
    var isAlone: Bool
}

extension SizePoint {
    /// Data and log together: the disk space of the engine.
    var totalBytes: Int { fileBytes + logBytes }

    /// The largest value that a chart draws for this point.
    var drawnBytes: Int { max(totalBytes, liveBytes ?? 0) }
}

extension RunDigest {
    /// All series with points, in plan order.
    var sizeLines: [SizeLine] {
        once {
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
}
