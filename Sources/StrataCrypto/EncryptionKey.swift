package import StrataStorage

/// From an application's key to the cipher of its store.
package enum EncryptionKey {
    /// Bytes of a key.
    package static let size = 64

    /// Why there is no cipher.
    package enum Refusal: Error, Sendable, Equatable {
        /// So many bytes were given.
        case size(Int)
        /// The package was built without the trait Crypto.
        case notBuilt
    }

    package static func cipher(_ key: [UInt8]) throws(Refusal) -> any Cipher {
        guard key.count == size else { throw .size(key.count) }
        #if Crypto
            guard let cipher = AESCipher(key: key) else { throw .size(key.count) }
            return cipher
        #else
            throw .notBuilt
        #endif
    }
}
