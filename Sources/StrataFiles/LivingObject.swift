import CStrataShim

/// One count of an object that was found by its address.
package struct LivingObject<Object: AnyObject>: @unchecked Sendable {  // a count is handed to one caller
    private let address: UnsafeMutableRawPointer

    /// Nil when the object's deinit has begun. Its memory must still be there.
    package init?(at address: UnsafeMutableRawPointer) {
        guard strata_retain_living(address) != 0 else { return nil }
        self.address = address
    }

    /// Hands the count over; to be called once.
    package func take() -> Object { Unmanaged<Object>.fromOpaque(address).takeRetainedValue() }
}
