/// A reference to an object that its owner keeps alive. Copying it and using it add no retain or release.
struct Borrowed<Object: AnyObject> {
    private let object: Unmanaged<Object>

    /// - Parameter object: outlives every ``use(_:)``.
    @inline(__always) init(_ object: Object) { self.object = .passUnretained(object) }

    @inline(__always)
    func use<Value>(_ body: (Object) throws(StorageError) -> Value) throws(StorageError) -> Value {
        try object._withUnsafeGuaranteedRef { (object) -> Result<Value, StorageError> in
            do throws(StorageError) { return .success(try body(object)) } catch { return .failure(error) }
        }.get()
    }
}
