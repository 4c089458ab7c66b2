import RunRecords
import Testing

@testable import History

@Suite struct HistoryCheckerTests {
    /// The anomalies that are found, whichever level rules them out.
    private func anomalies(_ history: HandWrittenHistory) throws -> [Anomaly] {
        let verdict = try HistoryChecker(history.history).check()
        for finding in verdict.findings { #expect(finding.witness.transactions.count <= 4) }
        return verdict.findings.map(\.anomaly)
    }

    @Test("serial transactions are fine")
    func serial() throws {
        var history = HandWrittenHistory()
        history.add(0, 1...2) {
            $0.append(0, 1)
            $0.read(1, 0)
            $0.write(1, 5)
        }
        history.add(1, 3...4) {
            $0.readList(0, [1])
            $0.append(0, 2)
            $0.readList(0, [1, 2])
            $0.read(1, 5)
        }
        history.add(0, 5...6, .aborted) { $0.append(0, 3) }
        history.add(1, 7...8) { $0.readList(0, [1, 2]) }
        #expect(try anomalies(history) == [])
    }

    @Test("interleaved writes are a dirty write")
    func dirtyWrite() throws {
        var history = HandWrittenHistory()
        for (actor, element) in [(0, Int64(1)), (1, 2)] {
            history.add(actor) {
                $0.append(0, element)
                $0.append(2, element)
            }
        }
        history.add(2, 300...400) { $0.readList(0, [1, 2]) }
        history.add(2, 500...600) { $0.readList(2, [2, 1]) }
        #expect(try anomalies(history) == [.dirtyWrite])
    }

    @Test("a value of a transaction that was rolled back is an aborted read", arguments: [true, false])
    func abortedRead(isList: Bool) throws {
        var history = HandWrittenHistory()
        history.add(0, .aborted) { if isList { $0.append(0, 1) } else { $0.write(1, 1) } }
        history.add(1) { if isList { $0.readList(0, [1]) } else { $0.read(1, 1) } }
        #expect(try anomalies(history) == [.abortedRead])
    }

    @Test("a value that its transaction overwrote is an intermediate read")
    func intermediateRead() throws {
        var history = HandWrittenHistory()
        history.add(0) {
            $0.write(1, 1)
            $0.write(1, 2)
        }
        history.add(1) { $0.read(1, 1) }
        #expect(try anomalies(history).first == .intermediateRead)
        var lists = HandWrittenHistory()
        lists.add(0) {
            $0.append(0, 1)
            $0.append(0, 2)
        }
        lists.add(1) { $0.readList(0, [1]) }
        lists.add(1, 300...400) { $0.readList(0, [1, 2]) }
        #expect(try anomalies(lists).first == .intermediateRead)
    }

    @Test("transactions that read from each other are circular information flow")
    func cyclicFlow() throws {
        var history = HandWrittenHistory()
        history.add(0) {
            $0.write(1, 10)
            $0.read(3, 20)
        }
        history.add(1) {
            $0.write(3, 20)
            $0.read(1, 10)
        }
        #expect(try anomalies(history) == [.cyclicFlow])
    }

    @Test("two updates of one value lose one of them", arguments: [true, false])
    func lostUpdate(isList: Bool) throws {
        var history = HandWrittenHistory()
        for (actor, value) in [(0, Int64(1)), (1, 2)] {
            history.add(actor) {
                if isList {
                    $0.readList(0, [])
                    $0.append(0, value)
                } else {
                    $0.read(1, 0)
                    $0.write(1, value)
                }
            }
        }
        if isList { history.add(2, 150...400) { $0.readList(0, [2]) } }
        #expect(try anomalies(history) == [.lostUpdate])
    }

    @Test("reading half of another transaction is a read skew")
    func readSkew() throws {
        var history = HandWrittenHistory()
        history.add(0) {
            for key in [1, 3] {
                $0.read(key, 0)
                $0.write(key, Int64(key))
            }
        }
        history.add(1) {
            $0.read(1, 1)
            $0.read(3, 0)
        }
        #expect(try anomalies(history) == [.readSkew])
    }

    @Test("each writing what the other read is a write skew, which snapshots allow")
    func writeSkew() throws {
        var history = HandWrittenHistory()
        for (actor, own, other) in [(0, 1, 3), (1, 3, 1)] {
            history.add(actor) {
                $0.read(own, 0)
                $0.read(other, 0)
                $0.write(own, Int64(own))
            }
        }
        #expect(try anomalies(history) == [.writeSkew])
        #expect(try HistoryChecker(history.history, level: .snapshot).check().forbidden.isEmpty)
        #expect(try HistoryChecker(history.history, level: .serializable).check().forbidden.count == 1)
    }

    @Test("readers that saw two writes in different orders are a long fork")
    func longFork() throws {
        var history = HandWrittenHistory()
        history.add(0) { $0.append(0, 1) }
        history.add(1) { $0.append(2, 2) }
        history.add(2) {
            $0.readList(0, [1])
            $0.readList(2, [])
        }
        history.add(3) {
            $0.readList(0, [])
            $0.readList(2, [2])
        }
        #expect(try anomalies(history) == [.longFork])
        #expect(try HistoryChecker(history.history, level: .readCommitted).check().forbidden.isEmpty)
        #expect(try HistoryChecker(history.history, level: .snapshot).check().forbidden.count == 1)
    }

    @Test("a transaction that does not see its own writes")
    func ownWriteUnseen() throws {
        var history = HandWrittenHistory()
        history.add(0) {
            $0.write(1, 1)
            $0.read(1, 0)
            $0.append(0, 1)
            $0.readList(0, [])
        }
        #expect(try anomalies(history) == [.ownWriteUnseen])
    }

    @Test("a value that changes within a transaction is found")
    func changingRead() throws {
        var history = HandWrittenHistory()
        history.add(0) { $0.write(1, 1) }
        history.add(1) {
            $0.read(1, 0)
            $0.read(1, 1)
        }
        #expect(try anomalies(history).first == .changingRead)
        #expect(try HistoryChecker(history.history, level: .readCommitted).check().forbidden.isEmpty)
    }

    @Test("an acknowledged element that a later list lacks is lost")
    func lostElement() throws {
        var history = HandWrittenHistory()
        history.add(0, 1...2) { $0.append(0, 1) }
        history.add(1, 1...3) { $0.append(0, 2) }
        history.add(2, 10...11) { $0.readList(0, [2]) }
        #expect(try anomalies(history).first == .lostElement)
        var open = HandWrittenHistory()
        open.add(0, 1...20) { $0.append(0, 1) }
        open.add(2, 10...11) { $0.readList(0, []) }
        #expect(try anomalies(open) == [], "it had not been acknowledged when the reader began")
    }

    @Test("a repeated element, and an element that no transaction appended")
    func wrongElements() throws {
        var twice = HandWrittenHistory()
        twice.add(0, 1...2) { $0.append(0, 1) }
        twice.add(1, 3...4) { $0.readList(0, [1, 1]) }
        #expect(try anomalies(twice) == [.duplicateElement])
        var unwritten = HandWrittenHistory()
        unwritten.add(0, 1...2) { $0.append(0, 1) }
        unwritten.add(1, 3...4) {
            $0.readList(0, [1, 7])
            $0.read(1, 9)
        }
        #expect(try anomalies(unwritten) == [.unwrittenValue])
    }

    @Test("reading an own element twice, and an own value before its write, are anomalies")
    func wrongOwnElements() throws {
        var twice = HandWrittenHistory()
        twice.add(0, 1...2) {
            $0.append(0, 5)
            $0.readList(0, [5, 5])
        }
        twice.add(1, 3...4) { $0.readList(0, [5, 5]) }
        #expect(try anomalies(twice) == [.duplicateElement])
        let witness = try #require(try HistoryChecker(twice.history).check().findings.first?.witness)
        #expect(witness.parties.map(\.operations) == [["append l0 + 5", "read l0 = [5 5]"]])
        #expect(witness.reasons == ["T1 appended 5 to list 0 once; it had read l0 = [5 5]."])

        var early = HandWrittenHistory()
        early.add(0) {
            $0.read(1, 5)
            $0.write(1, 5)
        }
        #expect(try anomalies(early) == [.unwrittenValue])
        let reasons = try HistoryChecker(early.history).check().findings.first?.witness.reasons
        #expect(reasons == ["T1 had read k1 = 5, and only after that write k1 = 5."])
        var earlyList = HandWrittenHistory()
        earlyList.add(0) {
            $0.readList(0, [5])
            $0.append(0, 5)
        }
        #expect(try anomalies(earlyList) == [.unwrittenValue])
    }

    @Test("own elements followed by another's occur once")
    func foreignBehindOwn() throws {
        var history = HandWrittenHistory()
        history.add(0) { $0.append(0, 7) }
        history.add(1) {
            $0.append(0, 5)
            $0.append(0, 6)
            $0.readList(0, [5, 6, 7])
        }
        #expect(try anomalies(history).contains(.changingRead))
        #expect(try !anomalies(history).contains(.duplicateElement))
        history.add(2) {
            $0.append(2, 5)
            $0.append(2, 6)
            $0.readList(2, [5, 6, 5])
        }
        #expect(try anomalies(history).contains(.duplicateElement))
    }

    @Test("lists of which neither is a prefix of the other")
    func incompatibleOrders() throws {
        var history = HandWrittenHistory()
        history.add(0) { $0.append(0, 1) }
        history.add(1) { $0.append(0, 2) }
        history.add(2) { $0.readList(0, [1, 2]) }
        history.add(3) { $0.readList(0, [2, 1]) }
        #expect(try anomalies(history).contains(.incompatibleOrders))
    }

    @Test("a stale read violates only real time")
    func realTime() throws {
        var history = HandWrittenHistory()
        history.add(0, 1...2) { $0.append(0, 1) }
        history.add(1, 3...4) { $0.readList(0, [1]) }
        history.add(2, 5...6) { $0.readList(0, []) }
        history.add(1, 7...8) { $0.readList(0, [1]) }
        #expect(try anomalies(history) == [.realTime])
        #expect(try HistoryChecker(history.history, level: .serializable).check().forbidden.isEmpty)
        let witness = try #require(try HistoryChecker(history.history).check().finding(.realTime)?.witness)
        #expect(witness.transactions == [2, 0], "the reader, and what it should have seen")
    }

    @Test("a real-time order through several transactions is found in its shortest form")
    func realTimeThroughOthers() throws {
        var history = HandWrittenHistory()
        // T0 ended before T3 began; by reads and writes T3 comes before T2, T2 before T1, T1 before T0.
        history.add(0, 1...2) { $0.readList(0, [1]) }
        history.add(1, 1...50) {
            $0.append(0, 1)
            $0.readList(2, [2])
        }
        history.add(2, 1...60) {
            $0.append(2, 2)
            $0.readList(4, [3])
        }
        history.add(3, 10...70) { $0.append(4, 3) }
        let verdict = try HistoryChecker(history.history).check()
        #expect(verdict.findings.map(\.anomaly) == [.realTime])
        #expect(verdict.findings[0].witness.transactions == [3, 2, 1, 0])
    }

    @Test("an unknown outcome raises no alarm, whether committed or not")
    func unknownFate() throws {
        var history = HandWrittenHistory()
        // One reader saw it, and no reader that began before did: it may have committed late.
        history.add(0, 1...2, .unknown) {
            $0.append(0, 1)
            $0.append(2, 2)
        }
        history.add(1, 3...4) { $0.readList(0, []) }
        history.add(1, 5...6) {
            $0.readList(0, [1])
            $0.readList(2, [2])
        }
        history.add(2, 7...8, .unknown) { $0.append(0, 3) }
        history.add(1, 9...10) { $0.readList(0, [1]) }
        #expect(try anomalies(history) == [])
    }

    @Test("a transaction of unknown outcome that was read must be complete")
    func unknownFateHalf() throws {
        var history = HandWrittenHistory()
        history.add(0, 1...2, .unknown) {
            $0.append(0, 1)
            $0.append(2, 2)
        }
        history.add(1, 3...4) {
            $0.readList(0, [1])
            $0.readList(2, [])
        }
        #expect(try anomalies(history) == [.readSkew])
    }

    @Test("an unknown outcome still precedes nothing in real time")
    func overlapOfUnknown() {
        var history = HandWrittenHistory()
        history.add(0, 1...UInt64.max, .unknown) { $0.append(0, 1) }
        history.add(1, 3...4) { $0.readList(0, []) }
        #expect(history.history.overlapCount == 0)
        history.add(2, 10...20) { $0.readList(0, []) }
        history.add(3, 15...16, .unknown) { $0.append(0, 2) }
        #expect(history.history.overlapCount == 2)
    }

    @Test("a history against the rules is refused")
    func misrecorded() {
        var twice = HandWrittenHistory()
        twice.add(0) { $0.write(1, 1) }
        twice.add(1) { $0.write(1, 1) }
        #expect(throws: HistoryError.writtenTwice(key: 1, value: 1)) { try HistoryChecker(twice.history).check() }
        var mixed = HandWrittenHistory()
        mixed.add(0) {
            $0.write(1, 1)
            $0.append(1, 2)
        }
        #expect(throws: HistoryError.mixedKey(1)) { try HistoryChecker(mixed.history).check() }
    }
}
