import CStrataShim

/// A strong reference to an object of which the caller knows only the address, and which may be about to end.
package struct LivingObject<Object: AnyObject>: @unchecked Sendable {  // a count is handed to one caller
    private let address: UnsafeMutableRawPointer

    /// Nil if the object's deinit has begun. Its memory must still be allocated.
    package init?(at address: UnsafeMutableRawPointer) {
        guard strata_retain_living(address) != 0 else { return nil }
        self.address = address
    }

    /// Transfers the reference to the caller, which calls this exactly once: else the object leaks, or ends too early.
    package func take() -> Object { Unmanaged<Object>.fromOpaque(address).takeRetainedValue() }
}
