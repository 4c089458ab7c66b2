/// Structural checks of nodes whose checksum is right, so that readers need no bounds checks. A table by kind: each
/// check stands with the type that reads the kind, on a higher floor than this one.
package struct NodeChecks: Sendable {
    /// Whether a node of this size is well-formed. Reads within these bytes, whatever they are.
    typealias Check = @Sendable (_ node: UnsafeRawPointer, _ bytes: Int) -> Bool

    /// By the code of a kind.
    private let byCode: [Check?]

    /// - Parameter byKind: a kind without a check is checked while it is parsed, at each read.
    init(_ byKind: [NodeKind: Check]) {
        var byCode = [Check?](repeating: nil, count: Int(UInt8.max) + 1)
        for (kind, check) in byKind { byCode[Int(kind.rawValue)] = check }
        self.byCode = byCode
    }

    func isWellFormed(_ node: UnsafeRawPointer, _ kind: NodeKind, _ bytes: Int) -> Bool {
        byCode[Int(kind.rawValue)]?(node, bytes) ?? true
    }
}
