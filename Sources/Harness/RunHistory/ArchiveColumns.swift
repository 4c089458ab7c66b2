#if SQLite
    import JSONText
    import RunRecords
    import Seeds

    /// The columns that queries of the archive select, in their order, and the values made from a row of them.
    enum ArchiveColumns {
        static let run = """
            run.id, run.digest, run.time, run.plan, run.seed, run.commit_id, run.branch, run.assay_version, \
            run.build_digest, run.machine
            """
        static let runCount: Int32 = 10

        static func run(_ row: ArchiveRow, _ path: String) throws(ArchiveError) -> RecordedRun {
            guard let seed = UInt64(row.text(4)) else { throw .damaged(path, "\(row.text(4)) is no seed") }
            let machine: Machine
            do {
                let value = try JSONReader.read(Array(row.text(9).utf8))
                machine = try Machine(json: try JSONObjectReader(value, path: "machine"))
            } catch {
                throw .damaged(path, "\(error)")
            }
            var header = RunHeader(id: row.text(0), plan: row.text(3), seed: Seed(seed), machine: machine)
            header.startTime = row.integer(2)
            (header.commit, header.branch) = (row.text(5), row.text(6))
            (header.assayVersion, header.buildDigest) = (row.text(7), row.text(8))
            return RecordedRun(header: header, digest: row.text(1))
        }

        static func test(_ description: String, _ path: String) throws(ArchiveError) -> Case {
            do {
                let value = try JSONReader.read(Array(description.utf8))
                return try Case(json: try JSONObjectReader(value, path: "case"))
            } catch {
                throw .damaged(path, "\(error)")
            }
        }

        static let figure = """
            figure.metric, figure.unit, figure.direction, figure.kind, figure.statistic, figure.label, figure.value, \
            figure.low, figure.high, figure.count
            """
        static let figureCount: Int32 = 10

        static func figure(_ row: ArchiveRow) throws(ArchiveError) -> RecordedFigure {
            let metric = Metric(
                row.text(0), unit: row.text(1), try row.choice(2, of: Metric.Direction.self),
                try row.choice(3, of: Metric.Kind.self))
            return RecordedFigure(
                Sample(
                    metric, row.real(6), statistic: row.text(4), count: row.integer(9), label: row.text(5),
                    low: row.optionalReal(7), high: row.optionalReal(8)))
        }

        static let ratio = "ratio.reference, ratio.version, ratio.value, ratio.low, ratio.high, ratio.pairs"

        static func ratio(_ row: ArchiveRow, from first: Int32) -> RecordedRatio {
            RecordedRatio(
                reference: row.text(first), version: row.text(first + 1), value: row.real(first + 2),
                low: row.optionalReal(first + 3), high: row.optionalReal(first + 4), pairCount: row.integer(first + 5))
        }
    }
#endif
