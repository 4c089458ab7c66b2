import Harness

/// What an actor saw, and what ended it before its time.
protocol EndingLane {
    var troubles: TransactionTroubles { get set }
    /// When that is no damage: it could not open the database, or not close it.
    var failure: EngineError? { get set }
}

extension EndingLane {
    /// Puts an error outside of transactions where it belongs.
    ///
    /// Throws: the error, when it says nothing about the engine.
    mutating func end(by error: any Error) throws {
        if let error = error as? EngineError, error.kind != .damaged {
            failure = error
        } else {
            try troubles.note(error)
        }
    }
}
