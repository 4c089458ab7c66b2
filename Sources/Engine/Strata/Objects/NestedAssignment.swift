import CStrataShim

/// Assigns dictionaries that contain dictionaries to unmanaged objects, on a bounded stack.
///
/// Which object to make of an inner dictionary is known to the property alone, and its conversion (`_fromAny`) is not
/// told the nesting depth. So the run, with the depth, is kept in a variable of the thread. Down to ``deepest`` levels
/// an object is assigned recursively; one that is nested deeper waits, and is assigned after the rest. So a chain of
/// any length takes a bounded stack.
enum NestedAssignment {
    private final class Run {
        var depth = 0
        var waiting: [(object: ObjectBase, value: Any)] = []
    }

    private static let deepest = 16

    /// Assigns the properties of `object` from a dictionary, an array or an object.
    /// - Parameter allowsUnknown: whether unknown names in `value` are ignored; in values inside it they always are.
    /// - Returns: the error for the first value that does not fit; nil if all fit.
    static func assign(_ object: ObjectBase, _ value: Any, allowsUnknown: Bool = true) -> RealmError? {
        if let known = strata_assignments() {
            return deeper(Unmanaged<Run>.fromOpaque(known).takeUnretainedValue(), object, value)
        }
        let run = Run()
        return withExtendedLifetime(run) {
            strata_keep_assignments(Unmanaged.passUnretained(run).toOpaque())
            defer { strata_keep_assignments(nil) }
            if let error = object._assignFields(value, allowsUnknown: allowsUnknown) { return error }
            while let next = run.waiting.popLast() {
                if let error = next.object._assignFields(next.value) { return error }
            }
            return nil
        }
    }

    private static func deeper(_ run: Run, _ object: ObjectBase, _ value: Any) -> RealmError? {
        if run.depth >= deepest {
            run.waiting.append((object, value))
            return nil
        }
        run.depth += 1
        defer { run.depth -= 1 }
        return object._assignFields(value)
    }
}
