import Harness

/// The versions that a session has pinned, by token.
@usableFromInline
package struct PinnedVersions<Pin: KeyValuePin> {
    @usableFromInline var pins: [SnapshotToken: Pin] = [:]
    @usableFromInline var count = 0

    @inlinable
    package init() {}

    @inlinable
    package var isEmpty: Bool { pins.isEmpty }

    @inlinable
    package mutating func add(_ pin: Pin) -> SnapshotToken {
        count += 1
        let token = SnapshotToken(number: count)
        pins[token] = pin
        return token
    }

    @inlinable
    package func pin(_ token: SnapshotToken) throws(EngineError) -> Pin {
        guard let pin = pins[token] else { throw Self.notPinned }
        return pin
    }

    @inlinable
    package mutating func release(_ token: SnapshotToken) throws(EngineError) {
        try pin(token).release()
        pins[token] = nil
    }

    @inlinable
    package mutating func releaseAll() {
        for pin in pins.values { pin.release() }
        pins = [:]
    }

    @usableFromInline
    static var notPinned: EngineError { EngineError(.refused, "no such snapshot") }
}
