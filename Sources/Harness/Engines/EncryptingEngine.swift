import RunRecords

/// An engine that can encrypt its files. Capability `encryption`.
///
/// With a key it is an engine like any other: whatever it opens, checks, salvages or compacts is encrypted.
package protocol EncryptingEngine: Engine {
    /// The same engine with a key, which its settings carry.
    var encrypted: any Engine { get }

    /// What stands sealed in bytes of a file of an encrypted database, as far as it is there whole.
    ///
    /// - Parameters:
    ///   - bytes: all of the file, or what one write put into it.
    ///   - path: of the file: its name says which file of the database it is.
    ///   - offset: where the bytes stand in it.
    func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit]
}

/// Some bytes that an engine sealed at once, under a nonce.
package struct SealedUnit: Hashable, Sendable {
    /// Where they start in their file.
    package var offset: Int
    package var nonce: [UInt8]
    /// What proves that they are whole: other bytes have another one.
    package var tag: [UInt8]

    package init(offset: Int, nonce: [UInt8], tag: [UInt8]) {
        self.offset = offset
        self.nonce = nonce
        self.tag = tag
    }
}

extension Registries {
    /// The engine of a case, as the case's conditions want it.
    package func engine(of test: Case) -> (any Engine)? {
        engines.engine(named: test.engine).map { $0.under(test) }
    }
}

extension Engine {
    /// The engine as the case's conditions want it.
    package func under(_ test: Case) -> any Engine {
        test.isEncrypted ? (self as? any EncryptingEngine)?.encrypted ?? self : self
    }
}
