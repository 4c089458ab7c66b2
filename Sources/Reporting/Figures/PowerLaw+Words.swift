import Statistics

/// A power law as a report says it.
extension PowerLaw {
    /// `grows like n^0.02 [−0.01, 0.05], as n does`; what is no power law gets no exponent, but one per stretch.
    var words: String {
        if form == .bent { return "no power law: \(stretchWords)" }
        guard let low, let high else {
            return "like \(Self.power(exponent)), measured too seldom to claim anything"
        }
        let interval = "[\(Self.number(low)), \(Self.number(high))]"
        let law =
            if shape == .constant { "does not grow: \(Self.power(exponent)) \(interval)" } else if exponent < 0 {
                "falls like \(Self.power(exponent)) \(interval)"
            } else { "grows like \(Self.power(exponent)) \(interval)" }
        let name = shape.map { $0 == .constant ? "" : ", as \($0.rawValue) does" } ?? ""
        return law + name + (form == .unknown ? "; too few rounds to tell whether it bends" : "")
    }

    /// `n^0.00 to 10⁵, n^0.60 to 10⁶`: each from the size before it.
    private var stretchWords: String {
        stretches.map { "\(Self.power($0.exponent)) to \(ScaleChart.sizeTick(Int($0.to)))" }.joined(separator: ", ")
    }

    /// For a program: `power`, `bent` or `unknown`.
    var formName: String {
        switch form {
        case .power: "power"
        case .bent: "bent"
        case .unknown: "unknown"
        }
    }

    static func power(_ exponent: Double) -> String { "n^\(number(exponent))" }

    /// Two digits behind the point, whichever its size.
    static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
        return "\(hundredths < 0 ? "\u{2212}" : "")\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
