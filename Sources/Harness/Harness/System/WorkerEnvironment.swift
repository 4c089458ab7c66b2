import Files
import Measuring
import Platform

/// The environment with which a worker is started: that of this process, and the preloaded library if it was built
/// beside the executable. The library watches no file until the worker names the directories.
package enum WorkerEnvironment {
    /// `NAME=VALUE`, as posix_spawn takes them.
    ///
    /// - Parameter given: variables that replace those of this process with the same names.
    package static func variables(executable: String, given: [EnvironmentVariable] = []) -> [EnvironmentVariable] {
        let kept = withoutBacktraces(inherited(without: given), given: given)
        return variables(kept, library: Preload.library(besides: executable)) + given
    }

    /// Trials crash on purpose. Unless the caller of Assay says otherwise, the Swift runtime must not start its program
    /// that prints a backtrace then: it takes seconds, and to a recorder it is a process that cannot be watched, so
    /// that the trial would say nothing.
    package static func withoutBacktraces(
        _ variables: [EnvironmentVariable], given: [EnvironmentVariable] = []
    ) -> [EnvironmentVariable] {
        let name = "SWIFT_BACKTRACE="
        let isSet = (variables + given).contains { $0.hasPrefix(name) }
        return isSet ? variables : variables + [EnvironmentVariable(name + "enable=no")]
    }

    package static func variables(_ inherited: [EnvironmentVariable], library: String?) -> [EnvironmentVariable] {
        guard let library else { return inherited }
        let prefix = Preload.variable + "="
        let existing = inherited.first { $0.hasPrefix(prefix) }?.value
        let value = Preload.environment(adding: library, to: existing ?? [])
        return inherited.filter { !$0.hasPrefix(prefix) } + [EnvironmentVariable(Array(prefix.utf8) + value)]
    }

    /// The variables of this process, without those whose names are given.
    package static func inherited(without given: [EnvironmentVariable]) -> [EnvironmentVariable] {
        let names = Set(given.compactMap(\.name))
        return inherited().filter { variable in variable.name.map { !names.contains($0) } ?? true }
    }

    /// The variables of this process, byte by byte.
    package static func inherited() -> [EnvironmentVariable] {
        KernelCalls.environment.map(variables(of:)) ?? []
    }

    /// The variables of a list that ends with a null pointer.
    static func variables(of list: UnsafePointer<UnsafeMutablePointer<CChar>?>) -> [EnvironmentVariable] {
        var variables: [EnvironmentVariable] = []
        var place = list
        while let variable = place.pointee {
            let text = UnsafeBufferPointer(start: variable, count: strlen(variable))
            variables.append(EnvironmentVariable(text.map { UInt8(bitPattern: $0) }))
            place += 1
        }
        return variables
    }
}
