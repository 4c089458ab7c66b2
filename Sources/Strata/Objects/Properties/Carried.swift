/// Transfers a value to the thread that uses it.
struct Carried<Value>: @unchecked Sendable {  // handed over: the sender does not use it again
    let value: Value
}
