import Foundation
import Strata
import Testing

private final class ChainLink: Object {
    @Persisted var number: Int
    @Persisted var next: ChainLink?
    @Persisted var branch: List<ChainLink>
    @Persisted var names: Map<String, ChainLink?>
    @Persisted var group: MutableSet<ChainLink>
    @Persisted var any: AnyRealmValue
}

private final class OldChainLink: Object {
    @Persisted var number: Int
    let branch = List<OldChainLink>()
}

/// Releasing a chain of 100 000 unmanaged objects, such as `detached()` makes of a linked list, once crashed the
/// program, since the runtime releases objects recursively.
@Suite struct LongChainTests {
    private static let count = 1_000_000

    /// Runs the body on a thread with a small stack.
    private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            body()
            done.signal()
        }
        thread.stackSize = 256 << 10
        thread.start()
        done.wait()
    }

    private static let links: [@Sendable (ChainLink, ChainLink) -> Void] = [
        { $0.next = $1 }, { $0.branch.append($1) }, { $0.names["next"] = .some($1) }, { $0.group.insert($1) },
        { $0.any = .object($1) }, { $0.any = .list(List([.object($1)])) },
    ]

    @Test("a chain of each kind of link is released on a small stack") func chains() {
        for (kind, link) in Self.links.enumerated() {
            onSmallStack {
                var head: ChainLink? = ChainLink()
                for number in 0..<(kind == 0 ? Self.count : 50_000) {
                    let next = ChainLink()
                    next.number = number
                    if let head { link(next, head) }
                    head = next
                }
                head = nil
            }
        }
        onSmallStack {
            var head = OldChainLink()
            for _ in 0..<50_000 {
                let next = OldChainLink()
                next.branch.append(head)
                head = next
            }
        }
    }

    @Test("objects with another reference stay unchanged")
    func held() {
        var head: ChainLink? = ChainLink()
        var middle: ChainLink?
        var branch: List<ChainLink>?
        for number in 0..<100 {
            let next = ChainLink()
            next.number = number
            next.next = head
            if let head { next.branch.append(head) }
            if number == 50 { (middle, branch) = (next, next.branch) }
            head = next
        }
        weak let gone = head
        head = nil
        #expect(gone == nil)
        #expect(middle?.number == 50 && middle?.next?.number == 49 && middle?.branch.first?.number == 49)
        middle = nil
        #expect(branch?.count == 1 && branch?.first?.next?.next?.number == 47)
    }

    @Test("detached() of a long chain, and its end")
    func detached() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([ChainLink.self])
        let realm = try Realm(configuration: configuration)
        try realm.write {
            var last: ChainLink?
            for number in 0..<20_000 {
                last = realm.create(ChainLink.self, value: ["number": number, "next": last as Any])
            }
        }
        onSmallStack {
            let realm = try? Realm(configuration: configuration)
            let copy = realm?.objects(ChainLink.self).last?.detached()
            #expect(copy?.next?.next?.number == 19_997)
        }
    }
}
