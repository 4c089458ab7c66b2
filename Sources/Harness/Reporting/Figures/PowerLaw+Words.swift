import Statistics

/// A power law in the words of a report.
extension PowerLaw {
    /// `grows like n^0.98 [0.96, 1.01], as n does`; `no growth shown: n^0.02 [−0.01, 0.05]`. A bent curve has an
    /// exponent for each stretch instead.
    var words: String {
        if form == .bent { return "no power law: \(stretchWords)" }
        guard let low, let high else {
            return "like \(Self.power(exponent)), measured too seldom to claim anything"
        }
        let interval = "[\(Self.number(low)), \(Self.number(high))]"
        let law =
            switch (shape, growth) {
            case (.constant, _): "does not grow: \(Self.power(exponent)) \(interval)"
            case (_, .none): "no growth shown: \(Self.power(exponent)) \(interval)"
            case (_, .falls): "falls like \(Self.power(exponent)) \(interval)"
            case (_, .rises): "grows like \(Self.power(exponent)) \(interval)"
            }
        let name = shape.map { $0 == .constant ? "" : ", as \($0.rawValue) does" } ?? ""
        return law + name + (form == .unknown ? "; too few rounds to tell whether it bends" : "")
    }

    enum Growth {
        case rises, falls
        /// The interval contains 0 or is missing, so that the words claim no direction.
        case none
    }

    var growth: Growth {
        guard let low, let high, low > 0 || high < 0 else { return .none }
        return low > 0 ? .rises : .falls
    }

    /// Whether the words say that it grows: a constant cost within a few hundredths of an exponent does not.
    var rises: Bool { growth == .rises && shape != .constant }
    var falls: Bool { growth == .falls && shape != .constant }

    /// How many laws claim each direction.
    struct Counts {
        let rising: Int
        let flat: Int
        let falling: Int

        init(_ laws: [PowerLaw]) {
            rising = laws.count(where: \.rises)
            falling = laws.count(where: \.falls)
            flat = laws.count - rising - falling
        }

        /// `grows in 12 of 40 figures, no growth shown in 25, falls in 3`.
        var sentence: String {
            "grows in \(Figure.grouped(rising)) of \(Figure.count(rising + flat + falling, "figure")), no growth shown "
                + "in \(Figure.grouped(flat)), falls in \(Figure.grouped(falling))"
        }
    }

    /// `n^0.00 to 10⁵, n^0.60 to 10⁶`: each is the exponent from the size before to this one.
    private var stretchWords: String {
        stretches.map { "\(Self.power($0.exponent)) to \(Figure.sizeTick(Int($0.to)))" }.joined(separator: ", ")
    }

    /// For a program: `power`, `bent` or `unknown`.
    var formName: String {
        switch form {
        case .power: "power"
        case .bent: "bent"
        case .unknown: "unknown"
        }
    }

    /// Writes the words as HTML, with superscript exponents.
    static func write(_ words: String, _ markup: inout Markup) {
        let parts = words.split(separator: "n^", omittingEmptySubsequences: false)
        markup.add(String(parts[0]))
        for part in parts.dropFirst() {
            let exponent = part.prefix { "\u{2212}0123456789.".contains($0) }
            markup.add("n")
            markup.element("sup", String(exponent))
            markup.add(String(part.dropFirst(exponent.count)))
        }
    }

    static func power(_ exponent: Double) -> String { "n^\(number(exponent))" }

    /// Always two decimals.
    static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
        return "\(hundredths < 0 ? "\u{2212}" : "")\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
