/// The bytes of a `links` column: keys of the linked rows, and extra bytes of the object layer.
///
/// Layout: width byte (1, 2, 4, 8), count as four little-endian bytes, count keys of that width (signed), extra bytes.
/// A null entry is `Int64.min`, at the width's own minimum when narrower. Empty payloads are empty bytes.
package enum LinkPayload {
    /// Stands for no link in a collection that keeps places.
    package static let null = Int64.min

    /// Builds the bytes for `links`, with `extra` behind them.
    /// - Complexity: O(links + extra).
    package static func encode(_ links: [Int64], extra: [UInt8] = []) -> [UInt8] {
        if links.isEmpty && extra.isEmpty { return [] }
        var low: Int64 = 0
        var high: Int64 = 0
        for link in links where link != null {
            low = min(low, link)
            high = max(high, link)
        }
        let width =
            low > -128 && high < 128
            ? 1
            : low > -32768 && high < 32768
                ? 2
                : low > -2_147_483_648 && high < 2_147_483_648 ? 4 : 8
        let size = 5 + links.count * width
        return [UInt8](unsafeUninitializedCapacity: size + extra.count) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            bytes[0] = UInt8(width)
            bytes.storeBytes(of: UInt32(links.count).littleEndian, toByteOffset: 1, as: UInt32.self)
            for (index, link) in links.enumerated() {
                let at = 5 + index * width
                switch width {
                case 1: bytes.storeBytes(of: link == null ? Int8.min : Int8(link), toByteOffset: at, as: Int8.self)
                case 2: bytes.storeBytes(of: link == null ? Int16.min : Int16(link), toByteOffset: at, as: Int16.self)
                case 4: bytes.storeBytes(of: link == null ? Int32.min : Int32(link), toByteOffset: at, as: Int32.self)
                default: bytes.storeBytes(of: link, toByteOffset: at, as: Int64.self)
                }
            }
            for (index, byte) in extra.enumerated() { bytes[size + index] = byte }
            count = size + extra.count
        }
    }

    /// A view of encoded links, valid as long as the bytes.
    package struct Reader {
        package let count: Int
        @usableFromInline let width: Int
        private let base: UnsafeRawPointer?
        /// The bytes behind the links.
        package let extra: UnsafeRawBufferPointer

        /// Nil if the bytes are no payload.
        package init?(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, bytes.count > 0 else {
                count = 0
                width = 1
                base = nil
                extra = UnsafeRawBufferPointer(start: nil, count: 0)
                return
            }
            guard bytes.count >= 5 else { return nil }
            let width = Int(bytes[0])
            guard width == 1 || width == 2 || width == 4 || width == 8 else { return nil }
            let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
            guard count <= (bytes.count - 5) / width else { return nil }
            self.count = count
            self.width = width
            base = start + 5
            extra = UnsafeRawBufferPointer(rebasing: bytes[(5 + count * width)...])
        }

        /// The i-th key, or ``LinkPayload/null``.
        @inline(__always)
        package subscript(index: Int) -> Int64 {
            precondition(index >= 0 && index < count)
            guard let base else { return null }
            switch width {
            case 1:
                let value = base.load(fromByteOffset: index, as: Int8.self)
                return value == .min ? null : Int64(value)
            case 2:
                let value = base.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)
                return value == .min ? null : Int64(value)
            case 4:
                let value = base.loadUnaligned(fromByteOffset: index * 4, as: Int32.self)
                return value == .min ? null : Int64(value)
            default: return base.loadUnaligned(fromByteOffset: index * 8, as: Int64.self)
            }
        }

        package var links: [Int64] { (0..<count).map { self[$0] } }

        /// Copies all keys.
        /// - Returns: false if one of them is ``LinkPayload/null``.
        @inline(__always)
        func copy(to keys: UnsafeMutablePointer<Int64>) -> Bool {
            guard let base else { return true }
            switch width {
            case 1: return Self.copy(base, as: Int8.self, count, keys)
            case 2: return Self.copy(base, as: Int16.self, count, keys)
            case 4: return Self.copy(base, as: Int32.self, count, keys)
            default: return Self.copy(base, as: Int64.self, count, keys)
            }
        }

        @inline(__always)
        private static func copy<Width: FixedWidthInteger & SignedInteger & BitwiseCopyable>(
            _ base: UnsafeRawPointer, as _: Width.Type, _ count: Int, _ keys: UnsafeMutablePointer<Int64>
        ) -> Bool {
            var isWhole = true
            for index in 0..<count {
                let key = base.loadUnaligned(fromByteOffset: index &* MemoryLayout<Width>.size, as: Width.self)
                if key == Width.min { isWhole = false }
                keys[index] = Int64(truncatingIfNeeded: key)
            }
            return isWhole
        }

        /// The same payload without the links to some rows; if places are kept, null replaces each.
        /// - Complexity: O(links + extra).
        func without(keepsPlaces: Bool, _ isTarget: (Int64) -> Bool) -> [UInt8] {
            var kept = links
            if keepsPlaces {
                for index in kept.indices where kept[index] != null && isTarget(kept[index]) { kept[index] = null }
            } else {
                kept.removeAll(where: isTarget)
            }
            #if Zoo
                if PlantedMistake.listDuplicateKept.isPlanted, let place = links.firstIndex(where: isTarget) {
                    kept = links
                    kept.remove(at: place)
                }
            #endif
            return LinkPayload.encode(kept, extra: Array(extra))
        }
    }
}
