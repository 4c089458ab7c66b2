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
        let kept = inherited(without: given)
        return variables(kept, library: Preload.library(besides: executable)) + given
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
