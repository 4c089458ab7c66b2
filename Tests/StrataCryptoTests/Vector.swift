@testable import StrataStorage

/// Sixteen bytes sealed by another implementation: key 00 .. 3F, store (1, 2), nonce (1, 2), page 9.
enum Vector {
    static let sealed: [UInt8] = [146, 46, 98, 128, 74, 162, 3, 223, 138, 23, 7, 142, 78, 33, 207, 173]
    static let tag = SealTag(0x3D3B_F78D_5B1C_FB10, 0x5F80_7D75_26F6_7CF1)
    static let keyCheck: UInt64 = 0xE1C0_1628_2F84_4C75
}
