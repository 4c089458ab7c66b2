import Measuring
import RunRecords

/// The environment of a worker: that of this process, plus the preloaded library where it was built beside the
/// executable. The library watches nothing until the worker names directories.
package enum WorkerEnvironment {
    /// `NAME=VALUE`, as posix_spawn takes them.
    ///
    /// - Parameter given: replace variables of this process with the same name.
    package static func variables(executable: String, given: [String] = []) -> [String] {
        let names = given.compactMap { variable in
            variable.firstIndex(of: "=").map { String(variable[...$0]) }
        }
        let kept = inherited().filter { variable in !names.contains { variable.hasPrefix($0) } }
        return variables(kept, library: Preload.library(besides: executable)) + given
    }

    package static func variables(_ inherited: [String], library: String?) -> [String] {
        guard let library else { return inherited }
        let prefix = Preload.variable + "="
        let existing = inherited.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        let value = Preload.environment(adding: library, to: existing)
        return inherited.filter { !$0.hasPrefix(prefix) } + [prefix + value]
    }

    /// `NAME=VALUE` of this process.
    package static func inherited() -> [String] {
        var variables: [String] = []
        guard var place = KernelCalls.environment else { return variables }
        while let variable = place.pointee {
            variables.append(String(cString: variable))
            place += 1
        }
        return variables
    }
}
