import RunRecords

/// Says what became of a database that may be damaged, by opening it and reading everything.
package enum DamageOracle {
    /// Opens, reads every value and compares it with `expected`.
    ///
    /// An error of kind `damaged` counts as detected only when all that was read before is right: one wrong value that
    /// came without an error makes the outcome `silently-wrong`, and so do missing rows. An error of another kind
    /// is `refused`. All data in place is `correct`. The open session is closed; an error there is the outcome where
    /// everything read was right.
    package static func judge(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation, expected: TableSet
    ) -> (outcome: Outcome, detail: String) {
        judge(engine: engine, settings: settings, location: location, expected: ExactOracle(expected))
    }

    package static func judge(
        engine: any Engine, settings: EngineSettings, location: DatabaseLocation, expected: ExactOracle
    ) -> (outcome: Outcome, detail: String) {
        let session: any Session
        do {
            session = try engine.open(location, settings: settings)
        } catch {
            return (error.kind == .damaged ? .detectedAtOpen : .refused, error.description)
        }
        guard let tables = session as? any TableSession else {
            return (.refused, "\(engine.name) has no tables")
        }
        let comparison = FullReadComparison(expected)
        var failure: EngineError?
        do throws(EngineError) {
            try tables.readAll(expected.schema, into: comparison)
        } catch {
            failure = error
        }
        do throws(EngineError) {
            try session.close()
        } catch {
            failure = failure ?? error
        }
        return outcome(comparison, failure)
    }

    private static func outcome(
        _ comparison: FullReadComparison, _ failure: EngineError?
    ) -> (outcome: Outcome, detail: String) {
        if failure == nil { comparison.finish() }
        if let difference = comparison.difference { return (.silentlyWrong, difference) }
        if let failure {
            return (failure.kind == .damaged ? .detectedAtRead : .refused, failure.description)
        }
        return (.correct, "")
    }
}
