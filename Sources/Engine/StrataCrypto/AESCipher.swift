#if Crypto
    package import StrataStorage
    internal import CCrypto
    import Synchronization

    /// AES-256 in Galois/Counter Mode, by libcrypto.
    ///
    /// By HMAC-SHA256 it derives from the caller's 64 bytes, for each store, the key that seals and the key check.
    /// Random nonces of 96 bits are safe for 2^32 seals under one key: 16 TiB of pages written to one store.
    /// Concurrency: any thread. A pool keeps contexts, because computing the key schedule costs more than a small page.
    package final class AESCipher: Cipher {
        private let secret: [UInt8]
        package let keyCheck: UInt64
        private let sealing: ContextPool
        private let opening: ContextPool

        /// - Parameter key: 64 bytes.
        package convenience init?(key: [UInt8]) {
            guard key.count == EncryptionKey.size else { return nil }
            self.init(secret: key, storeID: nil)
        }

        private init(secret: [UInt8], storeID: RandomID?) {
            self.secret = secret
            let words = storeID.map { [$0.first, $0.second] } ?? []
            let key = Self.derive(secret, 1, words)
            keyCheck = Self.derive(secret, 2, words).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self).littleEndian }
            sealing = ContextPool(key, isSealing: true)
            opening = ContextPool(key, isSealing: false)
        }

        package func derived(for storeID: RandomID) -> any Cipher { AESCipher(secret: secret, storeID: storeID) }

        /// 32 bytes for one purpose.
        private static func derive(_ secret: [UInt8], _ purpose: UInt64, _ words: [UInt64]) -> [UInt8] {
            let message = ([0x5354_5241_5441_4B31, purpose] + words).map(\.littleEndian)
            var result = [UInt8](repeating: 0, count: 32)
            var count: UInt32 = 0
            let isDone = message.withUnsafeBytes { bytes in
                HMAC(
                    EVP_sha256(), secret, Int32(secret.count), bytes.bindMemory(to: UInt8.self).baseAddress,
                    bytes.count, &result, &count)
            }
            guard isDone != nil, count == 32 else { fatalError("libcrypto has no HMAC-SHA256") }
            return result
        }

        package func seal(
            _ plain: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawPointer, nonce: Nonce, context: SealContext
        ) -> SealTag {
            var tag = SealTag(0, 0)
            sealing.withContext { cipher in
                var count: Int32 = 0
                let isDone =
                    Self.start(cipher, nonce, context, isSealing: true)
                    && EVP_EncryptUpdate(
                        cipher, sealed.assumingMemoryBound(to: UInt8.self), &count, Self.bytes(plain),
                        Int32(plain.count)) == 1
                    && EVP_EncryptFinal_ex(cipher, nil, &count) == 1
                let hasTag = withUnsafeMutableBytes(of: &tag) { bytes in
                    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, bytes.baseAddress) == 1
                }
                // No input makes libcrypto fail here. Continuing would write bytes that no key can decrypt.
                guard isDone && hasTag else { fatalError("libcrypto could not seal \(plain.count) bytes") }
            }
            return SealTag(UInt64(littleEndian: tag.first), UInt64(littleEndian: tag.second))
        }

        package func open(
            _ sealed: UnsafeRawBufferPointer, to plain: UnsafeMutableRawPointer, nonce: Nonce, tag: SealTag,
            context: SealContext
        ) -> Bool {
            var expected = SealTag(tag.first.littleEndian, tag.second.littleEndian)
            return opening.withContext { cipher in
                var count: Int32 = 0
                guard Self.start(cipher, nonce, context, isSealing: false),
                    EVP_DecryptUpdate(
                        cipher, plain.assumingMemoryBound(to: UInt8.self), &count, Self.bytes(sealed),
                        Int32(sealed.count)) == 1
                else { return false }
                let hasTag = withUnsafeMutableBytes(of: &expected) { bytes in
                    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, bytes.baseAddress) == 1
                }
                return hasTag && EVP_DecryptFinal_ex(cipher, plain.assumingMemoryBound(to: UInt8.self), &count) == 1
            }
        }

        private static func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
            buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        }

        /// Sets nonce and context of one message; the key is already set.
        private static func start(
            _ cipher: OpaquePointer, _ nonce: Nonce, _ context: SealContext, isSealing: Bool
        ) -> Bool {
            var start = (nonce.high.littleEndian, nonce.low.littleEndian)
            let words = context.words
            var about = (
                words.0.littleEndian, words.1.littleEndian, words.2.littleEndian, words.3.littleEndian,
                words.4.littleEndian
            )
            let isReady = withUnsafeBytes(of: &start) { bytes in
                EVP_CipherInit_ex(cipher, nil, nil, nil, Self.bytes(bytes), isSealing ? 1 : 0) == 1
            }
            guard isReady else { return false }
            return withUnsafeBytes(of: &about) { bytes in
                var count: Int32 = 0
                return EVP_CipherUpdate(cipher, nil, &count, Self.bytes(bytes), Int32(context.byteCount)) == 1
            }
        }
    }

    /// Contexts of libcrypto with the key set, one for each thread that seals at a time.
    private final class ContextPool: Sendable {
        private struct Idle: @unchecked Sendable {  // only the thread that took a context out uses it
            var contexts: [OpaquePointer] = []
        }

        private let idle = Mutex(Idle())
        private let key: [UInt8]
        private let isSealing: Bool

        init(_ key: [UInt8], isSealing: Bool) {
            self.key = key
            self.isSealing = isSealing
        }

        deinit { idle.withLock { $0.contexts.forEach { EVP_CIPHER_CTX_free($0) } } }

        func withContext<Value>(_ body: (OpaquePointer) -> Value) -> Value {
            let kept = idle.withLock { idle in idle.contexts.popLast().map { UInt(bitPattern: $0) } }
            let context = kept.flatMap { OpaquePointer(bitPattern: $0) } ?? make()
            let value = body(context)
            let number = UInt(bitPattern: context)
            idle.withLock { idle in
                if let context = OpaquePointer(bitPattern: number) { idle.contexts.append(context) }
            }
            return value
        }

        private func make() -> OpaquePointer {
            guard let context = EVP_CIPHER_CTX_new(),
                EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nil, isSealing ? 1 : 0) == 1
            else { fatalError("libcrypto has no AES-256-GCM, or there is no memory") }
            return context
        }
    }
#endif
