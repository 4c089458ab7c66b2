/// Structural checks of nodes whose checksum is right, so that readers need no bounds checks. A table has one check per
/// kind of node. The type that reads a kind implements its check; it is on a higher floor, which Pages may not name.
package struct NodeChecks: Sendable {
    /// Whether a node of this size is well-formed. A check reads nothing outside the node, whatever its bytes are.
    typealias Check = @Sendable (_ node: UnsafeRawPointer, _ bytes: Int) -> Bool

    /// Indexed by ``NodeReference/kindCode``.
    private let byCode: [Check?]

    /// - Parameter byKind: without the kinds whose reader checks a node while it parses it, at each read.
    init(_ byKind: [NodeKind: Check]) {
        var byCode = [Check?](repeating: nil, count: Int(UInt8.max) + 1)
        for (kind, check) in byKind { byCode[Int(kind.rawValue)] = check }
        self.byCode = byCode
    }

    func isWellFormed(_ node: UnsafeRawPointer, _ kind: NodeKind, _ bytes: Int) -> Bool {
        byCode[Int(kind.rawValue)]?(node, bytes) ?? true
    }
}
