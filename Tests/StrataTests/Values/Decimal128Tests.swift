import Foundation
import Seeds
import Testing

@testable import Strata

@Suite struct Decimal128Tests {
    @Test("text is kept digit by digit")
    func digitByDigit() throws {
        for text in [
            "0", "-0", "0.00", "1.0", "1.00", "-12.50", "0.000001", "1E-7", "1E6", "1.5E10", "123456789012345678",
            "9999999999999999999999999999999999", "-9.999999999999999999999999999999999E6144", "1E-6176", "NaN",
            "Infinity", "-Infinity",
        ] {
            #expect(try Decimal128(string: text).stringValue == text)
        }
        #expect(try Decimal128(string: "+1e3").stringValue == "1E3")
        #expect(try Decimal128(string: ".5").stringValue == "0.5")
        #expect(try Decimal128(string: "inf") == .infinity)
        for text in ["", "-", "1..2", "abc", "1e", "1e+", "0x10", "1 ", ".", "e5"] {
            #expect(throws: Realm.Error.self) { try Decimal128(string: text) }
        }
    }

    @Test("more than 34 digits are rounded half to even, and exponents are bounded")
    func roundedHalfToEven() throws {
        let nines = String(repeating: "9", count: 34)
        #expect(try Decimal128(string: nines + "4") == Decimal128(string: nines + "E1"))
        #expect(try Decimal128(string: nines + "5").stringValue == "1.000000000000000000000000000000000E35")
        #expect(try Decimal128(string: "1" + String(repeating: "0", count: 33) + "5") == Decimal128(string: "1E34"))
        #expect(
            try Decimal128(string: "1" + String(repeating: "0", count: 33) + "50000001")
                == Decimal128(string: "1.000000000000000000000000000000001E41"))
        #expect(try Decimal128(string: "1E7000") == .infinity)
        #expect(try Decimal128(string: "1E-7000").isZero)
        #expect(try Decimal128(string: "1E6144").stringValue == "1.000000000000000000000000000000000E6144")
        #expect(try Decimal128(string: "6E-6177").stringValue == "1E-6176")
    }

    @Test("equal values are equal and hash alike, with any trailing zeros")
    func equalValues() throws {
        let one: Decimal128 = 1
        for text in ["1", "1.0", "1.000000000000000000000000000000000", "10E-1"] {
            let same = try Decimal128(string: text)
            #expect(same == one && same.hashValue == one.hashValue && !(same < one) && !(one < same))
        }
        #expect(Decimal128("0") == Decimal128("-0.00") && Set<Decimal128>(["0", "-0", "0E+9"]).count == 1)
        #expect(Decimal128.nan == Decimal128.nan && Decimal128.nan < -Decimal128.infinity)
        let ordered: [Decimal128] = [
            "-Infinity", "-1E6000", "-2", "-1.5", "-1E-6000", "0", "1E-6176", "0.1", "0.10000001", "9", "10", "1E34",
            "10000000000000000000000000000000001", "Infinity",
        ]
        for (a, b) in zip(ordered, ordered.dropFirst()) where a != b { #expect(a < b && b > a, "\(a) \(b)") }
    }

    @Test("the layout is that of IEEE 754")
    func layoutOfIEEE754() {
        #expect(Decimal128("1").high == 0x3040_0000_0000_0000 && Decimal128("1").low == 1)
        #expect(Decimal128("-1.5").high == 0xB03E_0000_0000_0000 && Decimal128("-1.5").low == 15)
        #expect(Decimal128.infinity.high == 0x7800_0000_0000_0000 && Decimal128.nan.high == 0x7C00_0000_0000_0000)
        let value: Decimal128 = "123.456"
        #expect(value.storedBytes.withUnsafeBytes { Decimal128(bytes: $0) }?.stringValue == "123.456")
        #expect([UInt8]([1, 2]).withUnsafeBytes { Decimal128(bytes: $0) } == nil)
    }

    @Test("sums, differences, products and quotients are exact if 34 digits suffice")
    func exactArithmetic() {
        #expect((Decimal128("0.1") + "0.2").stringValue == "0.3")
        #expect((Decimal128("19.90") * 3).stringValue == "59.70")
        #expect((Decimal128("1") - "0.9").stringValue == "0.1")
        #expect((Decimal128("1") / "8").stringValue == "0.125")
        #expect((Decimal128("1") / "3").stringValue == "0.3333333333333333333333333333333333")
        #expect((Decimal128("2") / "3").stringValue == "0.6666666666666666666666666666666667")
        #expect((Decimal128("100") / "10").stringValue == "10")
        #expect(Decimal128("1E+40") + "1" == "1E40" && Decimal128("1E6000") - "1E-6000" == "1E6000")
        #expect(Decimal128("1") + "1E-33" == "1.000000000000000000000000000000001")
        #expect(Decimal128("1") - "1E-34" == "0.9999999999999999999999999999999999")
        // Just above a half is cut off, so the difference is just below one.
        #expect(
            Decimal128("1") - "5.000000000000000000000000000000001E-35" == "0.9999999999999999999999999999999999")
        #expect(Decimal128("1") / "0" == .infinity && (Decimal128("0") / "0").isNaN)
        #expect((Decimal128.infinity - .infinity).isNaN && -Decimal128.infinity + 1 == -Decimal128.infinity)
        let nines = Decimal128("9999999999999999999999999999999999")
        #expect(nines * nines == "9.999999999999999999999999999999998E67")
        #expect(Decimal128(UInt64.max).stringValue == "18446744073709551615" && Decimal128(0.1).stringValue == "0.1")
        #expect(Decimal128("12.5").doubleValue == 12.5)
    }

    @Test("arithmetic agrees with integers, for random ones")
    func agreesWithIntegers() {
        var generator = RandomStream(Seed(99))
        for _ in 0..<2_000 {
            let a = Int64.random(in: -1_000_000_000...1_000_000_000, using: &generator)
            let b = Int64.random(in: -1_000_000_000...1_000_000_000, using: &generator)
            let (x, y) = (Decimal128(a), Decimal128(b))
            #expect(x + y == Decimal128(a + b) && x - y == Decimal128(a - b) && x * y == Decimal128(a * b))
            #expect((x < y) == (a < b))
            if b != 0 { #expect(x * y / y == x) }
            let scaled = Decimal128("1E-9") * x
            #expect((try? Decimal128(string: scaled.stringValue))?.stringValue == scaled.stringValue)
        }
    }

    @Test("it is a number, with steps, magnitudes and exact integers")
    func isANumber() {
        #expect(Decimal128(number: 3.14159) == 3.14159 && Decimal128(number: 12) == 12)
        #expect(Decimal128(exactly: 5) == 5 && Decimal128(exactly: Int64.min) == Decimal128("-9223372036854775808"))
        #expect(Decimal128(exactly: UInt128.max) == nil)
        let thirtyFour = UInt128(9_999_999_999_999_999_999_999_999_999_999_999)
        #expect(Decimal128(exactly: thirtyFour) != nil && Decimal128(exactly: thirtyFour + 2) == nil)
        #expect(Decimal128(exactly: (thirtyFour + 1) * 100) == "1E36")
        var value: Decimal128 = -12.5
        value.negate()
        #expect(value == 12.5 && value.magnitude == 12.5 && Decimal128(-3).magnitude == 3 && Decimal128.zero == 0)
        #expect(Decimal128(10).distance(to: 4.5) == -5.5 && Decimal128(10).advanced(by: -0.5) == 9.5)
        #expect(stride(from: Decimal128("0.1"), to: "0.4", by: "0.1").map(\.stringValue) == ["0.1", "0.2", "0.3"])
        #expect([Decimal128("0.1"), "0.2"].reduce(.zero, +) == "0.3" && Decimal128.nan.isSignalingNaN)
    }

    @Test("it can be made from every type of number")
    func madeFromNumbers() {
        #expect(Decimal128(value: 3) == 3 && Decimal128(value: Int8(-3)) == -3 && Decimal128(value: 0.1) == "0.1")
        #expect(Decimal128(value: Float(0.1)) == "0.1" && Decimal128(value: "1.50").stringValue == "1.50")
        #expect(Decimal128(value: Decimal(string: "12.34") ?? 0) == "12.34" && Decimal128(value: Decimal128(1)) == 1)
        #expect(Decimal128(value: NSNull()).isNaN && Decimal128(value: Int?.none as Any).isNaN)
        #expect(Decimal128("12.34").decimalValue == Decimal(string: "12.34") && Decimal128.infinity.decimalValue.isNaN)
    }
}
