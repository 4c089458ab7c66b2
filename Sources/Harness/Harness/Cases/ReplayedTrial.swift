import JSONText
import RunRecords

/// The result of the one trial that `assay replay RUN CASE TRIAL` asks for.
///
/// A sweep runs only that trial, and reports whether the case can have it. A case without a sweep runs whole; the trial
/// exists if one of the case's checks has that name.
package struct ReplayedTrial: Sendable, Equatable {
    package private(set) var address: FaultAddress
    /// Whether the case can have such a trial.
    package private(set) var exists = false
    /// Its place in the case's trial file; nil if the sweep's plan does not list it.
    package private(set) var index: Int?
    /// The gravest of its outcomes; nil if the harness failed in the trial.
    package private(set) var outcome: Outcome?
    /// The message of that outcome: the place of the damage, and the failure.
    package private(set) var detail = ""
    /// Names of trials that the case has, for the message about a trial that it has not.
    package private(set) var examples: [FaultAddress] = []
    private var isOfSweep = false

    init(_ address: FaultAddress) {
        self.address = address
    }

    private static let exampleCount = 3

    /// A sweep calls it if it can run the trial; `index` is the place in the trial file, if the sweep's plan lists the
    /// trial.
    mutating func accept(index: Int?) {
        exists = true
        isOfSweep = true
        self.index = index
    }

    /// A sweep calls it if it has no such trial; `addresses` are examples of those that it has.
    mutating func decline(_ addresses: some Sequence<FaultAddress>) {
        for address in addresses { offer(address) }
    }

    mutating func note(_ trial: Trial, index: Int) {
        noteBroken(trial.address, index: index)
        guard trial.address == address else { return }
        if trial.outcome.gravity >= outcome?.gravity ?? 0 {
            outcome = trial.outcome
            detail = trial.detail
        }
    }

    mutating func noteBroken(_ address: FaultAddress, index: Int) {
        guard address == self.address else { return offer(address) }
        exists = true
        if !isOfSweep && self.index == nil { self.index = index }
    }

    /// Keeps an example of each kind of fault, and of each check, up to the limit.
    private mutating func offer(_ address: FaultAddress) {
        guard examples.count < Self.exampleCount else { return }
        let isCheck = address.fault == .check
        if examples.contains(where: { isCheck ? $0 == address : $0.fault == address.fault }) { return }
        examples.append(address)
    }

    /// Why there is no such trial, with examples of trials that the case has; nil if the trial exists.
    package var refusal: String? {
        if exists { return nil }
        let known = examples.map { "\($0)" }.joined(separator: ", ")
        return "the case has no trial \(address)" + (known.isEmpty ? "" : "; its trials are named like \(known)")
    }
}

extension ReplayedTrial: JSONRecord {
    package static let blank = ReplayedTrial(FaultAddress(text: ""))

    package static let fields: [JSONField<ReplayedTrial>] = [
        .member("address", \.address), .member("exists", \.exists), .member("examples", \.examples),
        .member("index", \.index), .member("outcome", \.outcome), .sparse("detail", \.detail),
    ]
}
