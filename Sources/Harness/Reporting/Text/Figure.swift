import Platform

/// Formats numbers for readers: three significant digits, a gap between thousands, the unit last.
enum Figure {
    /// The separator of thousands: a no-break space; a plain space on a terminal.
    static let gap = "\u{A0}"
    /// The placeholder for a missing number.
    static let none = "\u{2013}"

    /// The value with `digits` significant digits, but with all digits before the point: `12 300`, `1.25`, `0.00312`.
    static func rounded(_ value: Double, digits: Int = 3, gap: String = Figure.gap) -> String {
        guard value.isFinite else { return none }
        guard value != 0 else { return "0" }
        let magnitude = abs(value)
        guard magnitude < 1e17, magnitude >= 1e-9 else { return value.description }
        var exponent = Int(log10(magnitude).rounded(.down))
        var whole = scaled(magnitude, exponent: exponent, digits: digits)
        if whole >= Int(pow(10, Double(digits))) {
            exponent += 1
            whole = scaled(magnitude, exponent: exponent, digits: digits)
        }
        let sign = value < 0 ? "\u{2212}" : ""
        let places = digits - 1 - exponent
        if places <= 0 {
            return sign + grouped(whole * Int(pow(10, Double(-places))), gap: gap)
        }
        let text = String(whole)
        let padded = String(repeating: "0", count: max(0, places + 1 - text.count)) + text
        return sign + padded.dropLast(places) + "." + padded.suffix(places)
    }

    /// The first `digits` digits of the value as a whole number.
    private static func scaled(_ magnitude: Double, exponent: Int, digits: Int) -> Int {
        Int((magnitude * pow(10, Double(digits - 1 - exponent))).rounded())
    }

    /// The value without trailing zeros, for ticks of an axis and counts.
    static func trimmed(_ value: Double, digits: Int = 3, gap: String = Figure.gap) -> String {
        var text = rounded(value, digits: digits, gap: gap)
        guard text.contains("."), !text.contains("e") else { return text }
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    /// A number with its thousands separated: `4 212`.
    static func grouped(_ value: Int, gap: String = Figure.gap) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "\u{2212}" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 {
                text += gap
            }
            text.append(digit)
        }
        return text
    }

    /// The value with every digit, for programs: a whole number without a point, nothing for NaN.
    static func exact(_ value: Double) -> String {
        guard value.isFinite else { return "" }
        if value == value.rounded(), abs(value) < 9e15 {
            return String(Int(value))
        }
        return value.description
    }

    /// A value in the unit of its metric.
    static func text(_ value: Double, unit: String, gap: String = Figure.gap) -> String {
        switch unit {
        case "ns": duration(nanoseconds: value, gap: gap)
        case "us": duration(nanoseconds: value * 1e3, gap: gap)
        case "ms": duration(nanoseconds: value * 1e6, gap: gap)
        case "s": duration(nanoseconds: value * 1e9, gap: gap)
        case "bytes": bytes(value, gap: gap)
        case "1/s": rounded(value, gap: gap) + gap + "/s"
        case "count": trimmed(value, gap: gap)
        case "ratio", "": rounded(value, gap: gap)
        default: rounded(value, gap: gap) + gap + unit
        }
    }

    static func duration(nanoseconds: Double, gap: String = Figure.gap, isTick: Bool = false) -> String {
        let (value, unit) =
            switch abs(nanoseconds) {
            case ..<999.5: (nanoseconds, "ns")
            case ..<999_500: (nanoseconds / 1e3, "\u{B5}s")
            case ..<999_500_000: (nanoseconds / 1e6, "ms")
            default: (nanoseconds / 1e9, "s")
            }
        return (isTick ? trimmed(value, gap: gap) : rounded(value, gap: gap)) + gap + unit
    }

    /// A value with the prefix of a thousand, million or billion, for drawings: `10 G`, `1.24 M`, `12.3 k`.
    static func si(_ value: Double, gap: String = Figure.gap) -> String {
        let magnitude = abs(value)
        for (name, size) in [("G", 1e9), ("M", 1e6), ("k", 1e3)] where magnitude >= size * 0.9995 {
            return trimmed(value / size, gap: gap) + gap + name
        }
        return trimmed(value, gap: gap)
    }

    /// A value in the unit of its metric, short enough for an axis: `10 M/s`, `2 ms`, `4 MiB`.
    static func tick(_ value: Double, unit: String) -> String {
        switch unit {
        case "1/s": si(value) + "/s"
        case "ns", "us", "ms", "s", "bytes": text(value, unit: unit)
        case "count", "ratio", "": si(value)
        default: si(value) + gap + unit
        }
    }

    private static let superscripts = Array(
        "\u{2070}\u{B9}\u{B2}\u{B3}\u{2074}\u{2075}\u{2076}\u{2077}\u{2078}\u{2079}"
    )

    /// A number of rows for an axis: powers of ten are written with exponents, since their zeros do not fit.
    static func sizeTick(_ size: Int) -> String {
        var (rest, power) = (size, 0)
        while rest > 1, rest % 10 == 0 {
            rest /= 10
            power += 1
        }
        guard rest == 1, power > 3, power < 20 else { return grouped(size) }
        return "10" + String(String(power).compactMap { $0.wholeNumberValue.map { superscripts[$0] } })
    }

    static let byteUnits = ["B", "KiB", "MiB", "GiB", "TiB"]

    /// The unit that `value` is best read in, and its size in bytes.
    static func byteUnit(_ value: Double) -> (name: String, size: Double) {
        var size = 1.0
        for name in byteUnits.dropLast() {
            // 1 023.6 would be rounded to 1 020.
            if abs(value) < size * 1_023.5 || value == 0 { return (name, size) }
            size *= 1_024
        }
        return (byteUnits[byteUnits.count - 1], size)
    }

    static func bytes(_ value: Double, gap: String = Figure.gap) -> String {
        let unit = byteUnit(value)
        let number = value / unit.size
        return (unit.size == 1 ? trimmed(number, gap: gap) : rounded(number, gap: gap)) + gap + unit.name
    }

    /// A factor, above 1 for better: `0.48×`, `1.84×`, `12.4×`.
    static func ratio(_ value: Double) -> String {
        guard value >= 0.005, value < 9.995 else {
            return rounded(value, digits: value < 1 ? 1 : 3) + "\u{D7}"
        }
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)\u{D7}"
    }

    static func percent(_ fraction: Double, gap: String = Figure.gap) -> String {
        guard fraction.isFinite else { return none }
        let percent = fraction * 100
        return (percent >= 99.5 ? grouped(Int(min(percent, 1e12).rounded()), gap: gap) : rounded(percent, digits: 2))
            + gap + "%"
    }

    /// `1 case`, `4 212 trials`.
    static func count(_ number: Int, _ singular: String, _ plural: String? = nil, gap: String = Figure.gap) -> String {
        "\(grouped(number, gap: gap)) \(number == 1 ? singular : plural ?? singular + "s")"
    }

    /// Seconds since 1970 as `2026-11-21T08:15:00Z`. The calendar is computed here, so that a report does not depend on
    /// the machine's time zone.
    static func time(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let ofDay = seconds - days * 86_400
        // Days are counted from 1 March of the year 0, in eras of 400 years: so a leap day is the last day of its year.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(year)-\(two(month))-\(two(day))T\(two(ofDay / 3_600)):\(two(ofDay / 60 % 60)):\(two(ofDay % 60))Z"
    }
}
