package import StrataStorage

/// Makes the cipher of a store from an application's key.
package enum EncryptionKey {
    /// The size of a key in bytes.
    package static let size = 64

    /// Why no cipher can be made.
    package enum Refusal: Error, Sendable, Equatable {
        /// The key has this many bytes instead of 64.
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
