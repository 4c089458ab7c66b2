/// State that a layer above the objects caches while a write runs.
protocol WriteMemory: AnyObject {}
