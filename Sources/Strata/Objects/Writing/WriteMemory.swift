/// What something above the objects remembers for as long as a write runs.
protocol WriteMemory: AnyObject {}
