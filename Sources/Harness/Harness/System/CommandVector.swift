import Platform

/// Passes arguments and variables to C functions, as vectors of C strings with a null pointer at their end.
package enum CommandVector {
    package static func with<Output>(
        _ arguments: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        with(arguments.map { strdup($0) }, body)
    }

    package static func with<Output>(
        _ variables: [EnvironmentVariable], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        with(variables.map { ($0.bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer(copy) }, body)
    }

    private static func copy(_ text: UnsafeBufferPointer<CChar>) -> UnsafeMutablePointer<CChar>? {
        text.baseAddress.flatMap { strdup($0) }
    }

    /// Frees the copies after the body has returned.
    private static func with<Output>(
        _ copies: [UnsafeMutablePointer<CChar>?], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Output
    ) -> Output {
        let pointers = copies + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an empty command") }
            return body(base)
        }
    }
}
