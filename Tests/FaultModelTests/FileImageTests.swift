import FaultModel
import Seeds
import Testing

@Suite struct FileImageTests {
    @Test("an image holds what an array would", arguments: 0..<50)
    func imageLikeAnArray(seed: UInt64) {
        var random = RandomStream(Seed(seed))
        var image = FileImage()
        var array: [UInt8] = []
        for step in 0..<30 {
            if random.chance(1, in: 4) {
                let size = random.below(20_000)
                image.setSize(Int64(size))
                array = Array(array.prefix(size)) + filled(0, max(0, size - array.count))
            } else {
                let bytes = filled(UInt8(step + 1), random.below(6_000))
                let offset = random.below(14_000)
                bytes.withUnsafeBytes { image.write($0, at: Int64(offset)) }
                array += filled(0, max(0, offset + bytes.count - array.count))
                array.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
            }
            #expect(image.bytes == array, "seed \(seed), step \(step)")
            var fresh = FileImage(array)
            #expect(image.digest() == fresh.digest(), "seed \(seed), step \(step)")
        }
    }

    @Test("a copy is not changed by changes of the original")
    func independentCopy() {
        var image = FileImage(filled(1, 10_000))
        let copy = image
        filled(2, 10).withUnsafeBytes { image.write($0, at: 5_000) }
        #expect(copy.bytes == filled(1, 10_000))
    }

    @Test("the digest tells every bit apart")
    func digestOfEveryBit() {
        var digests: Set<UInt64> = []
        for bit in 0..<(600 * 8) {
            var bytes = filled(0, 600)
            bytes[bit / 8] = 1 << UInt8(bit % 8)
            var image = FileImage(bytes)
            digests.insert(image.digest())
        }
        var zeros = FileImage(filled(0, 600))
        digests.insert(zeros.digest())
        #expect(digests.count == 600 * 8 + 1)
    }

    @Test("the digest of a disk depends on names, and not on inodes")
    func digestOfADisk() {
        var one = DiskImage()
        one.files = [Inode(1): FileImage([1]), Inode(2): FileImage([2])]
        one.entries = ["a": Inode(1), "b": Inode(2)]
        var other = DiskImage()
        other.files = [Inode(7): FileImage([2]), Inode(9): FileImage([1])]
        other.entries = ["a": Inode(9), "b": Inode(7)]
        #expect(one.digest() == other.digest())
        other.entries = ["a": Inode(7), "b": Inode(9)]
        #expect(one.digest() != other.digest())
    }
}

@Suite struct ByteDigestTests {
    @Test("the digest does not depend on alignment")
    func anyAlignment() {
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for count in [0, 1, 7, 8, 31, 32, 33, 100] {
            var digests: Set<UInt64> = []
            for shift in 0..<9 {
                let moved = filled(9, shift) + bytes
                _ = moved.withUnsafeBytes { buffer in
                    digests.insert(ByteDigest.hash(UnsafeRawBufferPointer(rebasing: buffer[shift..<(shift + count)])))
                }
            }
            #expect(digests.count == 1, "\(count) bytes")
        }
    }
}
