/// The types that `posix_spawn` takes: structs on one system, pointers on another.
package enum Spawning {
    #if canImport(Darwin)
        package typealias FileActions = posix_spawn_file_actions_t?
        package typealias Attributes = posix_spawnattr_t?

        package static var blankFileActions: FileActions { nil }
        package static var blankAttributes: Attributes { nil }
    #else
        /// What a new program does with its descriptors.
        package typealias FileActions = posix_spawn_file_actions_t
        /// What else differs between a new program and its parent.
        package typealias Attributes = posix_spawnattr_t

        /// The caller passes it to `posix_spawn_file_actions_init`.
        package static var blankFileActions: FileActions { FileActions() }
        /// The caller passes it to `posix_spawnattr_init`.
        package static var blankAttributes: Attributes { Attributes() }
    #endif
}
