import StrataStorage

extension Predicate {
    /// The predicate with keys in place of objects, so that any thread may use it.
    var detached: Predicate {
        switch self {
        case .not(let inner): return .not(inner.detached)
        case .and(let parts): return .and(PredicateParts(parts.map(\.detached)))
        case .or(let parts): return .or(PredicateParts(parts.map(\.detached)))
        case .comparison(var comparison):
            comparison.left = comparison.left.detached
            comparison.right = comparison.right.detached
            return .comparison(comparison)
        case .constant, .tooDeep: return self
        }
    }
}

extension Predicate.Expression {
    fileprivate var detached: Predicate.Expression {
        switch self {
        case .object(let object):
            let isThere = object._frame != nil && !object.isInvalidated
            var constant = Predicate.Constant(.link(isThere ? object._key : LinkPayload.null), .object)
            if isThere {
                constant.link = AnyEncoding.Link(
                    table: object._access.tableID.rawValue, key: object._key, creation: object._creation)
            }
            return .value(constant)
        case .values(let parts): return .values(parts.map(\.detached))
        case .subquery(let path, let variable, let inner):
            return .subquery(path, variable: variable, inner.detached)
        case .path, .aggregate, .value, .members, .shape: return self
        }
    }
}
