import Harness

/// The observations of an actor, and the error that ended it early.
protocol EndingLane {
    var failures: TransactionFailures { get set }
    /// An error other than damage: the actor could not open or could not close the database.
    var failure: EngineError? { get set }
}

extension EndingLane {
    /// Records an error outside of transactions.
    ///
    /// Throws: the error, when it says nothing about the engine.
    mutating func end(by error: any Error) throws {
        if let error = error as? EngineError, error.kind != .damaged {
            failure = error
        } else {
            try failures.note(error)
        }
    }
}
