/// Finds symbols by name in the program and all its libraries: functions that Swift's module of the C library lacks, or
/// that only a preloaded library has.
package enum LoadedSymbols {
    /// The handle that makes `dlsym` search everywhere: RTLD_DEFAULT, whose macro Swift does not import.
    package static var everywhere: UnsafeMutableRawPointer? {
        #if canImport(Darwin)
            UnsafeMutableRawPointer(bitPattern: -2)
        #else
            nil
        #endif
    }

    /// A C function by its name; nil if no library has it. The caller answers for the type, which neither the compiler
    /// nor the loader checks.
    package static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let symbol = dlsym(everywhere, name) else { return nil }
        return unsafeBitCast(symbol, to: type)
    }
}
