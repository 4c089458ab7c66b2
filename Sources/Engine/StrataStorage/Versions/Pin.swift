/// The owner of pins, to which they are given back. It keeps the file open until then.
///
/// Concurrency: both functions may be called from any thread.
protocol PinKeeper: AnyObject, Sendable {
    /// Ends a pin that was taken without a lock.
    func unpin(_ pin: ReaderPin)

    /// Ends a pin that was taken under the keeper's lock.
    func unpin(_ version: UInt64)
}

/// A pin of a version. Its end gives the pin back to its keeper, which it keeps alive until then.
struct Pin: ~Copyable, Sendable {
    /// How the version was pinned, which decides how the pin ends.
    private enum Kind {
        case withoutLock(ReaderPin)
        case underLock(version: UInt64)
    }

    private let keeper: any PinKeeper
    private let kind: Kind

    /// - Parameter pin: passes to this value.
    @inline(__always)
    init(_ pin: ReaderPin, in keeper: any PinKeeper) {
        self.keeper = keeper
        kind = .withoutLock(pin)
    }

    /// - Precondition: the version is pinned for this value.
    init(of version: UInt64, in keeper: any PinKeeper) {
        self.keeper = keeper
        kind = .underLock(version: version)
    }

    deinit {
        switch kind {
        case .withoutLock(let pin): keeper.unpin(pin)
        case .underLock(let version): keeper.unpin(version)
        }
    }
}
