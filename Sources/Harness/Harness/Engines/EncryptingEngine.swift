import RunRecords

/// An engine that can encrypt its files. Capability `encryption`.
///
/// With a key it is an engine like any other: every database that it opens, checks, salvages or compacts is encrypted.
package protocol EncryptingEngine: Engine {
    /// The same engine with a key, which is a part of its settings.
    var encrypted: any Engine { get }

    /// The sealed units that lie completely within some bytes of a file of an encrypted database.
    ///
    /// - Parameters:
    ///   - bytes: the whole file, or the bytes of one write.
    ///   - path: the path of the file, whose name tells the kind of file.
    ///   - offset: where the bytes are in the file.
    func sealedUnits(in bytes: [UInt8], of path: String, at offset: Int) -> [SealedUnit]
}

/// Bytes that an engine encrypted and authenticated together, under one nonce.
package struct SealedUnit: Hashable, Sendable {
    /// Where the unit starts in its file.
    package var offset: Int
    package var nonce: [UInt8]
    /// Authenticates the bytes: other bytes would have another tag.
    package var tag: [UInt8]

    package init(offset: Int, nonce: [UInt8], tag: [UInt8]) {
        self.offset = offset
        self.nonce = nonce
        self.tag = tag
    }
}

extension Engine {
    /// The engine, with a key if the case's conditions ask for encryption.
    package func under(_ test: Case) -> any Engine {
        test.isEncrypted ? (self as? any EncryptingEngine)?.encrypted ?? self : self
    }
}
