/// What a floor above Objects caches while a write runs: the running write keeps it, and knows nothing else of it.
protocol WriteMemory: AnyObject {}
