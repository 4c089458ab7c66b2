#if Fuzzing
    import Foundation

    // The entry points of libFuzzer's main. In a build with `-sanitize=fuzzer` the test bundle is the fuzzer, which
    // Tools/fuzz starts.

    private let fuzzTarget: FuzzTarget = {
        guard let target = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? "") else {
            fatalError("FUZZ_TARGET: one of \(FuzzTarget.allCases.map(\.rawValue))")
        }
        return target
    }()

    /// Writes the initial inputs into the folder FUZZ_SEEDS, if set.
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
