import RunRecords

/// An engine that can encrypt its files. Capability `encryption`.
///
/// With a key it is an engine like any other: every database that it opens, checks, salvages or compacts is encrypted.
package protocol EncryptingEngine: Engine {
    /// The same engine with a key, which its settings carry.
    var encrypted: any Engine { get }

    /// The sealed units in bytes of a file of an encrypted database, as far as they are complete there.
    ///
    /// - Parameters:
    ///   - bytes: the whole file, or the bytes of one write.
    ///   - path: of the file; its name tells the kind of file.
    ///   - offset: of the bytes in the file.
    func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit]
}

/// Bytes that an engine sealed as one, under a nonce.
package struct SealedUnit: Hashable, Sendable {
    /// Where they start in their file.
    package var offset: Int
    package var nonce: [UInt8]
    /// Authenticates the bytes: other bytes have another tag.
    package var tag: [UInt8]

    package init(offset: Int, nonce: [UInt8], tag: [UInt8]) {
        self.offset = offset
        self.nonce = nonce
        self.tag = tag
    }
}

extension Registries {
    /// The engine of a case, with a key where the case's conditions ask for encryption.
    package func engine(of test: Case) -> (any Engine)? {
        engines.engine(named: test.engine).map { $0.under(test) }
    }
}

extension Engine {
    /// The engine, with a key where the case's conditions ask for encryption.
    package func under(_ test: Case) -> any Engine {
        test.isEncrypted ? (self as? any EncryptingEngine)?.encrypted ?? self : self
    }
}
