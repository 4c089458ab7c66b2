import Testing

@testable import StrataStorage

/// Which observers are notified of which commit, and when.
@Suite struct CommitObserversTests {
    private static func notice(_ version: UInt64) -> CommitNotice {
        CommitNotice(version: TransactionID(version), changes: [], schemaChanged: false)
    }

    /// The versions that observers are notified of when this one is visible.
    private static func told(_ observers: inout CommitObservers, visible: UInt64) -> [UInt64] {
        var told: [UInt64] = []
        while let next = observers.beginTelling(visible: visible) {
            told.append(next.notice.version.rawValue)
            observers.endTelling()
        }
        return told
    }

    @Test("a version is told once it is visible")
    func toldOnceVisible() {
        var observers = CommitObservers()
        _ = observers.add { _ in }
        for version in UInt64(1)...3 { observers.note(Self.notice(version)) }
        #expect(Self.told(&observers, visible: 0) == [])
        #expect(Self.told(&observers, visible: 2) == [1, 2])
        #expect(Self.told(&observers, visible: 2) == [])
        #expect(Self.told(&observers, visible: 9) == [3])
    }

    @Test("one thread tells at a time")
    func oneTellingThread() {
        var observers = CommitObservers()
        _ = observers.add { _ in }
        for version in UInt64(1)...2 { observers.note(Self.notice(version)) }
        #expect(observers.beginTelling(visible: 2)?.notice.version == TransactionID(1))
        #expect(observers.beginTelling(visible: 2) == nil, "2 would be told beside 1")
        observers.endTelling()
        #expect(observers.beginTelling(visible: 2)?.notice.version == TransactionID(2))
    }

    @Test("an observer added before a version is visible hears of it")
    func comingBeforeVisible() {
        var observers = CommitObservers()
        observers.note(Self.notice(1))
        observers.note(Self.notice(2))
        observers.becameVisible(1)
        let id = observers.add { _ in }
        observers.becameVisible(2)
        #expect(Self.told(&observers, visible: 2) == [2])
        observers.remove(id)
        #expect(observers.isEmpty)
        observers.note(Self.notice(3))
        observers.becameVisible(3)
        #expect(Self.told(&observers, visible: 3) == [])
    }

    @Test("observers are told in the order in which they came")
    func orderOfObservers() throws {
        let heard = Heard()
        var observers = CommitObservers()
        var ids: [Int] = []
        for number in 0..<4 { ids.append(observers.add { _ in heard.numbers.append(number) }) }
        observers.remove(ids[1])
        _ = observers.add { _ in heard.numbers.append(4) }
        observers.note(Self.notice(1))
        let told = observers.beginTelling(visible: 1)
        let next = try #require(told)
        for tell in next.observers { tell(next.notice) }
        #expect(heard.numbers == [0, 2, 3, 4])
    }

    @Test("what another process commits for this one is known")
    func commitOfOtherProcess() {
        func version(_ number: UInt64) -> VersionState { CommitQueueTests.version(number) }
        var observers = CommitObservers()
        observers.handIn(Self.notice(1), 1)
        _ = observers.add { _ in }
        observers.follow(version(1), after: version(0))
        #expect(observers.beginTelling(visible: 1)?.notice.schemaChanged == false)
        observers.endTelling()
        var own = Self.notice(2)
        own.schemaChanged = true
        observers.handIn(own, 2)
        observers.follow(version(2), after: version(1))
        #expect(observers.beginTelling(visible: 2)?.notice.schemaChanged == true)
        observers.endTelling()
        // This process has not seen the version before its own, so its own change set is incomplete.
        own.version = TransactionID(4)
        observers.handIn(own, 4)
        observers.follow(version(4), after: version(2))
        #expect(observers.beginTelling(visible: 4)?.notice.schemaChanged == false)
        observers.endTelling()
        own.version = TransactionID(5)
        observers.handIn(own, 5)
        observers.refuse(5)
        observers.follow(version(5), after: version(4))
        #expect(observers.beginTelling(visible: 5)?.notice.schemaChanged == false)
    }
}

/// Numbers in order of arrival; used by one thread.
private final class Heard: Sendable {
    /// Unchecked: used by one thread only.
    nonisolated(unsafe) var numbers: [Int] = []
}
