import CStrataShim

/// Assignment of nested dictionaries to unmanaged objects.
///
/// Only a property knows the type of object to make of a dictionary, and it is called without the nesting depth, so the
/// thread keeps the depth. Values take stack for each level up to ``deepest``; deeper ones are assigned after the rest,
/// so that a chain of any length needs a bounded stack.
enum NestedAssignment {
    private final class Run {
        var depth = 0
        var waiting: [(object: ObjectBase, value: Any)] = []
    }

    private static let deepest = 16

    /// - Returns: the error for a value that does not fit.
    static func assign(_ object: ObjectBase, _ value: Any, allowsUnknown: Bool = true) -> Realm.Error? {
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

    private static func deeper(_ run: Run, _ object: ObjectBase, _ value: Any) -> Realm.Error? {
        if run.depth >= deepest {
            run.waiting.append((object, value))
            return nil
        }
        run.depth += 1
        defer { run.depth -= 1 }
        return object._assignFields(value)
    }
}
