import Platform
import RunRecords
import Statistics
import Testing

@testable import Reporting

/// Perceived differences of colours, computed.
private struct Light {
    var red: Double
    var green: Double
    var blue: Double

    /// From `#rrggbb`, without gamma.
    init(_ hex: String) {
        let value = Int(hex.dropFirst(), radix: 16) ?? 0
        func linear(_ shift: Int) -> Double {
            let part = Double(value >> shift & 255) / 255
            return part <= 0.04045 ? part / 12.92 : Self.power((part + 0.055) / 1.055, 2.4)
        }
        (red, green, blue) = (linear(16), linear(8), linear(0))
    }

    private init(_ red: Double, _ green: Double, _ blue: Double) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    private static func power(_ base: Double, _ exponent: Double) -> Double { base <= 0 ? 0 : pow(base, exponent) }

    /// The colour as seen without cones for red or for green (Machado, Oliveira and Fernandes 2009, severity 1).
    func seen(by eye: Eye) -> Light {
        let m: [Double]
        switch eye {
        case .all: return self
        case .protan: m = [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998]
        case .deutan: m = [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881]
        }
        func row(_ at: Int) -> Double { min(1, max(0, m[at] * red + m[at + 1] * green + m[at + 2] * blue)) }
        return Light(row(0), row(3), row(6))
    }

    enum Eye: CaseIterable { case all, protan, deutan }

    /// Relative luminance by WCAG.
    var luminance: Double { 0.2126 * red + 0.7152 * green + 0.0722 * blue }

    func contrast(_ other: Light) -> Double {
        let (high, low) = (max(luminance, other.luminance), min(luminance, other.luminance))
        return (high + 0.05) / (low + 0.05)
    }

    /// The distance in OKLab, in hundredths: about 2 is distinguishable side by side.
    func distance(_ other: Light) -> Double {
        let (a, b) = (oklab, other.oklab)
        return 100 * zip(a, b).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    }

    private var oklab: [Double] {
        let l = Self.power(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue, 1 / 3)
        let m = Self.power(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue, 1 / 3)
        let s = Self.power(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue, 1 / 3)
        return [
            0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
        ]
    }
}

@Suite struct PageStyleTests {
    private static func value(_ name: String, isDark: Bool) throws -> String {
        let named = try #require((ColourStyle.named + ColourStyle.outcomes).first { $0.name == name }, "\(name)")
        return isDark ? named.dark : named.light
    }

    @Test(
        "all engines of a run have different colours, also without red or green", arguments: [false, true])
    func palette(isDark: Bool) throws {
        let colours = EnginePalette.colours.map { Light(isDark ? $0.dark : $0.light) }
        for eye in Light.Eye.allCases {
            for first in colours.indices {
                for second in colours.indices where second > first {
                    let distance = colours[first].seen(by: eye).distance(colours[second].seen(by: eye))
                    #expect(distance > 6, "\(first) and \(second), \(eye): \(distance)")
                }
            }
        }
        let ground = Light(try Self.value("bg", isDark: isDark))
        for (slot, colour) in colours.enumerated() { #expect(colour.contrast(ground) >= 3, "\(slot)") }
        let own = ["strata", "strata-storage", "strata-old", "strata-storage-old"]
        let engines =
            own + [
                "sqlite", "sqlite-tuned", "lmdb", "lmdb-tuned", "rocksdb", "rocksdb-tuned", "berkeleydb", "duckdb",
                "realm", "leveldb",
            ]
        let palette = EnginePalette(engines + [RunDigest.reference])
        #expect(Set(engines.map(palette.slot)).count == engines.count)
        #expect(engines.filter { palette.slot($0) < own.count } == own, "blue is Strata's alone")
        #expect(palette.mark("strata") != palette.mark("sqlite"))
    }

    @Test("text has a contrast of 4.5 to 1 with every background", arguments: [false, true])
    func contrast(isDark: Bool) throws {
        func check(_ text: String, on ground: String) throws {
            let contrast = Light(try Self.value(text, isDark: isDark))
                .contrast(Light(try Self.value(ground, isDark: isDark)))
            #expect(contrast >= 4.5, "\(text) on \(ground): \(contrast)")
        }
        for text in ["ink", "soft", "faint", "link", "good", "bad", "doubt"] {
            for ground in ["bg", "raised"] { try check(text, on: ground) }
        }
        for (text, ground) in [
            ("good", "goodbg"), ("bad", "badbg"), ("doubt", "doubtbg"), ("calm", "calmbg"), ("ink", "calmbg"),
        ] { try check(text, on: ground) }
        for outcome in ShownOutcome.allCases { try check("on-\(outcome.rawValue)", on: outcome.rawValue) }
        let ink = Light(try Self.value("ink", isDark: isDark))
        for ground in ColourStyle.flames {
            #expect(ink.contrast(Light(isDark ? ground.dark : ground.light)) >= 4.5, "\(ground.name)")
        }
    }

    @Test(
        "adjacent outcomes on the map are distinguishable without red or green", arguments: [false, true])
    func outcomes(isDark: Bool) throws {
        for eye in Light.Eye.allCases {
            for first in ShownOutcome.allCases {
                for second in ShownOutcome.allCases where second != first {
                    let lights = try [first, second].map { Light(try Self.value($0.rawValue, isDark: isDark)) }
                    let distance = lights[0].seen(by: eye).distance(lights[1].seen(by: eye))
                    #expect(distance > 5, "\(first) and \(second), \(eye): \(distance)")
                }
            }
        }
    }

    @Test("the first tab stop skips the navigation, whose links show counts")
    func navigation() throws {
        let html = Reporting.html(PlausibleRun.run)
        let first = try #require(html.firstMatch(of: /<body[^>]*><a class="skip" href="#([a-z]+)">/))
        #expect(html.contains("<main id=\"\(first.output.1)\">"))
        let nav = try #require(html.firstMatch(of: /<nav aria-label="Sections">.*?<\/nav>/)).output
        let counts = nav.matches(of: /href="#([a-z]+)">[^<]*(?:<small>([^<]*)<\/small>)?/)
        let cases = counts.first { $0.output.1 == "cases" }?.output.2.map(String.init)
        #expect(cases == String(PlausibleRun.run.results.count))
        #expect(counts.contains { $0.output.1 == "safe" && $0.output.2?.contains("/") == true }, "some have no answer")
        #expect(nav.contains("#verdict") && !nav.contains("#peers"))
    }

    @Test("a section opens with a sentence, and its tables are folded")
    func folds() {
        for (anchor, run) in [
            ("faults", PlausibleRun.run), ("fast", RunWithRounds.small), ("peers", RunWithRounds.small),
        ] {
            let section = HTMLTests.section(anchor, of: Reporting.html(run))
            let head = section[
                ..<(section.firstRange(of: "<table class=\"grid sort\"")?.lowerBound ?? section.endIndex)]
            #expect(head.contains("class=\"sentence\"") && head.contains("<details class=\"fold\">"), "\(anchor)")
        }
    }

    @Test("print is light, opens folds, and keeps tables within the page")
    func print() throws {
        let print = PrintStyle.text
        #expect(print.contains(ColourStyle.light) && print.contains("overflow: visible"))
        #expect(print.contains("details-content") && ReportScript.text.contains("beforeprint"))
        #expect(!print.contains("details { display: none"))
    }

    @Test("the heads of a long table stay in view: both rows of a double head, and that of the map of faults")
    func heads() throws {
        let style = ReportStyle.text
        #expect(style.contains(/\.scroll thead tr \+ tr th \{ top: [1-9][0-9]*px \}/))
        let head = try #require(style.firstMatch(of: /\.heat thead th \{[^}]*\}/)).output
        #expect(head.contains("position: sticky; top: 0"))
        // A box that scrolls sideways only would scroll as high as the map, and its head with it.
        let box = try #require(style.firstMatch(of: /\.heat-box \{[^}]*\}/)).output
        #expect(box.contains("overflow: auto") && box.contains("max-height"))
    }

    @Test(
        "large numbers have a prefix in narrow places",
        arguments: [
            (10_000_000_000.0, "10\u{A0}G"), (1_240_000, "1.24\u{A0}M"), (12_300, "12.3\u{A0}k"), (950, "950"),
            (999_999_999, "1\u{A0}G"),
        ])
    func prefixes(value: Double, words: String) {
        #expect(Figure.si(value) == words)
    }

    @Test("charts of one case share an axis: a tenth of the size is a tenth as high")
    func sharedAxis() throws {
        func height(_ most: Int, shared: Int) throws -> Double {
            let points = [SizePoint(fileBytes: 1 << 20), SizePoint(fileBytes: most)]
            let chart = SizeChart(
                title: "t",
                lines: [
                    SizeChart.Line(
                        engine: "lmdb", variant: "",
                        series: Series(
                            name: "s", step: "commits", points: points))
                ], palette: EnginePalette(["lmdb"]), sharedHigh: shared)
            let svg = Markup.build { chart.draw(&$0) }
            let path = try #require(svg.firstMatch(of: /class="ln [^"]*" d="M[0-9.]+ [0-9.]+L[0-9.]+ ([0-9.]+)"/))
            return 202 - (try #require(Double(path.output.1)))
        }
        let alone = try height(20 << 20, shared: 0)
        let beside = try height(20 << 20, shared: 200 << 20)
        #expect(alone > 100 && abs(beside / alone - 0.1) < 0.05, "\(alone) \(beside)")
    }

    @Test("a growth whose interval contains zero claims no direction")
    func noGrowth() throws {
        let rounds: [[Double]] = (0..<9).map { round in
            let shift = Double(round - 4) / 40
            return [1, 1 + shift, 1 - 2 * shift]
        }
        let law = try #require(PowerLaw(sizes: [1_000, 10_000, 100_000], rounds: rounds))
        #expect(law.growth == .none)
        #expect(!law.words.contains("falls") && !law.words.contains("grows"), "\(law.words)")
        // A cost that rises and falls again is bent; its exponent is above 0, its interval is not.
        let hills = (0..<9).map { [1, 2, 1 + Double($0 - 3) / 100] }
        let bent = try #require(PowerLaw(sizes: [1_000, 10_000, 100_000], rounds: hills))
        #expect(bent.form == .bent && bent.exponent > 0 && bent.growth == .none)
    }
}
