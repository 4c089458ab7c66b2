/// Carries a value to the place where it is used.
struct Carried<Value>: @unchecked Sendable {  // handed over: the sender does not use it again
    let value: Value
}
