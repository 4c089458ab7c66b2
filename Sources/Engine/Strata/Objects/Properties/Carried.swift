/// Transfers a value that is not `Sendable` to the one thread that uses it from then on.
struct Carried<Value>: @unchecked Sendable {  // handed over: the sender does not use it again
    let value: Value
}
