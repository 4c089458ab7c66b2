#if Fuzzing
    import Foundation

    // What libFuzzer's main calls, in a build with `-sanitize=fuzzer`: the bundle of the tests is the fuzzer then.
    // Tools/fuzz starts it.

    private let fuzzTarget: FuzzTarget = {
        guard let target = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? "") else {
            fatalError("FUZZ_TARGET: one of \(FuzzTarget.allCases.map(\.rawValue))")
        }
        return target
    }()

    /// Writes the inputs to begin with into the folder FUZZ_SEEDS, when there is one.
    @_cdecl("LLVMFuzzerInitialize")
    package func fuzzInitialize(_ count: UnsafeMutableRawPointer, _ arguments: UnsafeMutableRawPointer) -> CInt {
        guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"], !folder.isEmpty else { return 0 }
        do {
            for (number, bytes) in try fuzzTarget.seeds().enumerated() {
                try Data(bytes).write(to: URL(filePath: "\(folder)/seed-\(number)"))
            }
        } catch { fatalError("no inputs to begin with: \(error)") }
        return 0
    }

    @_cdecl("LLVMFuzzerTestOneInput")
    package func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        fuzzTarget.run(UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }
#endif
