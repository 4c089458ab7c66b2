import FaultModel
import Testing

@Suite struct FaultInjectorTests {
    private func run(_ injector: inout FaultInjector, _ label: String, _ kinds: [IOKind]) -> [Fault.Effect?] {
        kinds.map { injector.next(label: label, actor: "main", role: .data, kind: $0).effect }
    }

    @Test("a fault strikes the operation that it names")
    func namedOperation() {
        let identity = FaultIdentity(label: "b", actor: "main", role: .data, kind: .write, index: 1)
        var injector = FaultInjector([Fault(.inputOutputError, at: .identity(identity))])
        #expect(run(&injector, "a", [.write, .write, .write]) == [nil, nil, nil])
        #expect(run(&injector, "b", [.write, .sync, .write, .write]) == [nil, nil, .inputOutputError, nil])
        #expect(injector.struck.count == 1)
    }

    @Test("an identity stays that of its operation when neighbours are removed")
    func removedNeighbours() {
        let identity = FaultIdentity(label: "b", actor: "main", role: .data, kind: .sync, index: 0)
        for neighbours in 0..<3 {
            var injector = FaultInjector([Fault(.inputOutputError, at: .identity(identity))])
            for _ in 0..<neighbours { _ = run(&injector, "a", [.write, .sync]) }
            #expect(run(&injector, "b", [.write, .sync]) == [nil, .inputOutputError])
        }
    }

    @Test("a numbered fault counts recorded operations only")
    func numberedFault() {
        var injector = FaultInjector([Fault(.noSpace, at: .operation(1))])
        #expect(run(&injector, "a", [.write, .read, .write, .write]) == [nil, nil, .noSpace, nil])
    }

    @Test("a lasting error strikes all later operations of its kind")
    func lastingError() {
        var injector = FaultInjector([Fault(.inputOutputError, at: .operation(1), isLasting: true)])
        #expect(
            run(&injector, "a", [.sync, .sync, .write, .sync]) == [nil, .inputOutputError, nil, .inputOutputError])
    }

    @Test("an effect that cannot happen does not strike")
    func impossibleEffect() {
        var injector = FaultInjector([Fault(.shortWrite(bytes: 3), at: .operation(0))])
        #expect(run(&injector, "a", [.sync, .write]) == [nil, nil])
        #expect(injector.struck.isEmpty)
    }
}
