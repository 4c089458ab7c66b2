import RunRecords

/// The result of opening a database and reading every value of it.
package struct ContentFinding: Hashable, Sendable {
    package var outcome: Outcome
    /// The first difference, or the engine's own message; empty if everything is right.
    package var detail: String
    /// The values of the cells that were passed as `open`, in their order; nil if a cell gave no integer.
    package var numbers: [Int64?]

    package init(_ outcome: Outcome, _ detail: String = "", numbers: [Int64?] = []) {
        self.outcome = outcome
        self.detail = detail
        self.numbers = numbers
    }
}

/// Judges a database that may be damaged: opens it and reads everything.
package enum DamageOracle {
    /// Opens, reads every value and compares it with `expected`.
    ///
    /// An error of kind `damaged` counts as detected only if everything read before it is right: one wrong value
    /// without an error makes the outcome `silently-wrong`, and so do missing rows and an error of kind `untold`. An
    /// error of another kind gives `refused`; all data in place gives `correct`. The session is closed; if everything
    /// read was right, an error of the close is the outcome.
    package static func judge(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation, expected: TableSet
    ) -> (outcome: Outcome, detail: String) {
        judge(engine: engine, settings: settings, location: location, expected: ExactOracle(expected))
    }

    package static func judge(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation, expected: ExactOracle
    ) -> (outcome: Outcome, detail: String) {
        let finding = read(engine: engine, settings: settings, location: location, expected: expected)
        return (finding.outcome, finding.detail)
    }

    /// Does the same as `judge`. The cells of `open` may hold any value, and the finding lists their values.
    package static func read(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation, expected: ExactOracle,
        open: [CellPlace] = []
    ) -> ContentFinding {
        let session: any Session
        do {
            session = try engine.open(location, settings: settings)
        } catch {
            return ContentFinding(error.outcomeOfOpen, error.description)
        }
        guard let tables = session as? any TableSession else {
            return ContentFinding(.refused, "\(engine.name) has no tables")
        }
        return read(tables, expected: expected, open: open)
    }

    /// Does the same with an open session, and closes it.
    package static func read(
        _ session: any TableSession, expected: ExactOracle, open: [CellPlace] = []
    ) -> ContentFinding {
        let comparison = FullReadComparison(expected, open: open)
        var finding = read(session, expected.schema, comparison)
        finding.numbers = open.map { cell in
            if case .integer(let number)? = comparison.found[cell] { number } else { nil }
        }
        return finding
    }

    /// Does the same with the caller's own comparison, over all tables of the schema.
    package static func read(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation, schema: TableSet,
        into comparison: some ContentComparison
    ) -> ContentFinding {
        do throws(EngineError) {
            guard let tables = try engine.open(location, settings: settings) as? any TableSession else {
                return ContentFinding(.refused, "\(engine.name) has no tables")
            }
            return read(tables, schema, comparison)
        } catch {
            return ContentFinding(error.kind == .damaged ? .detectedAtOpen : .refused, error.description)
        }
    }

    /// Does the same with expected rows that are generated during the read.
    package static func judge(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation,
        inPieces source: any RangedDatasetSource, size: Int
    ) -> (outcome: Outcome, detail: String) {
        do {
            let comparison = try PiecewiseComparison(source, size: size)
            let session = try engine.open(location, settings: settings)
            guard let tables = session as? any TableSession else {
                return (.refused, "\(engine.name) has no tables")
            }
            let finding = read(tables, comparison.schema, comparison)
            return (finding.outcome, finding.detail)
        } catch let error as EngineError {
            return (error.outcomeOfOpen, error.description)
        } catch {
            return (.refused, "\(error)")
        }
    }

    private static func read(
        _ session: any TableSession, _ schema: TableSet, _ comparison: some ContentComparison
    ) -> ContentFinding {
        var failure: EngineError?
        do throws(EngineError) {
            try session.readAll(schema, into: comparison)
        } catch {
            failure = error
        }
        do throws(EngineError) {
            try session.close()
        } catch {
            failure = failure ?? error
        }
        return finding(comparison, failure)
    }

    private static func finding(_ comparison: some ContentComparison, _ failure: EngineError?) -> ContentFinding {
        if failure == nil { comparison.finish() }
        if let difference = comparison.difference { return ContentFinding(.silentlyWrong, difference) }
        if let failure {
            return ContentFinding(failure.outcomeOfRead, failure.description)
        }
        return ContentFinding(.correct)
    }
}
