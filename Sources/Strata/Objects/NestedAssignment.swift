import CStrataShim

/// Unmanaged objects take values from dictionaries inside one another.
///
/// Which type makes an object of a dictionary is known to the property alone, which is called without knowing how deep
/// it stands: the running thread keeps that. Values take stack for each level as far as ``deepest``; what stands deeper
/// is assigned after the rest, so that a chain of any length is made on a stack of any size.
enum NestedAssignment {
    private final class Run {
        var depth = 0
        var waiting: [(object: ObjectBase, value: Any)] = []
    }

    private static let deepest = 16

    /// - Returns: what does not fit.
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
