/// The colour and the mark of each engine in the drawings of one run. Both follow from the engine's position among the
/// engines, so that no two engines have the same colour and mark. Only Strata's engines are blue, in different shades;
/// peers have the other hues.
///
/// The colours can be told apart with red-green colour blindness, and have a contrast of at least 3 to 1 with the page;
/// tests compute both. A name beside a mark is always in the text colour.
struct EnginePalette {
    /// A colour on a light page and on a dark one.
    struct Colour {
        var light: String
        var dark: String
    }

    private static let own = [
        Colour(light: "#0b62a8", dark: "#5aa9f0"), Colour(light: "#3f8ad6", dark: "#2f7cc4"),
        Colour(light: "#06305c", dark: "#b3daff"), Colour(light: "#000838", dark: "#98c0f8"),
    ]
    private static let peers = [
        Colour(light: "#ba5d00", dark: "#cca223"), Colour(light: "#008946", dark: "#1fe796"),
        Colour(light: "#c07ba7", dark: "#e19bbc"), Colour(light: "#7c4c0e", dark: "#d8e428"),
        Colour(light: "#370000", dark: "#bb2f5c"), Colour(light: "#013f00", dark: "#ffff9b"),
        Colour(light: "#c28800", dark: "#b57418"), Colour(light: "#6b20ff", dark: "#a568ff"),
        Colour(light: "#006c56", dark: "#96ffe6"), Colour(light: "#580898", dark: "#9010f8"),
        Colour(light: "#f040f0", dark: "#985090"),
    ]
    private static let grey = Colour(light: "#71777e", dark: "#8a9098")

    /// By slot; the style sheet names them `--e0`, `--e1` and so on.
    static let colours = own + peers + [grey]

    /// The slot of the in-memory reference and of the machine's limit.
    static let aside = colours.count - 1

    private let slots: [String: Int]
    private let marks: [String: Mark]

    init(_ engines: [String]) {
        let strata = engines.filter(PeerTable.isOwn)
        let others = engines.filter { !PeerTable.isOwn($0) && $0 != RunDigest.reference }
        var slots: [String: Int] = [:]
        var marks: [String: Mark] = [:]
        for (index, engine) in strata.enumerated() {
            slots[engine] = index % Self.own.count
            marks[engine] = Mark.allCases[index % Mark.allCases.count]
        }
        for (index, engine) in others.enumerated() {
            slots[engine] = Self.own.count + index % Self.peers.count
            marks[engine] = Mark.allCases[(strata.count + index) % Mark.allCases.count]
        }
        self.slots = slots
        self.marks = marks
    }

    func slot(_ engine: String) -> Int { slots[engine] ?? Self.aside }

    func mark(_ engine: String) -> Mark { marks[engine] ?? .disc }

    /// The shape of a point of a line.
    enum Mark: CaseIterable {
        case disc, square, triangle, diamond, cross, wedge

        /// The outline around the origin, which `translate` moves to its place.
        var path: String {
            switch self {
            case .disc: "M-3 0A3 3 0 1 1 3 0A3 3 0 1 1 -3 0Z"
            case .square: "M-2.8 -2.8H2.8V2.8H-2.8Z"
            case .triangle: "M0 -3.8L3.6 2.8H-3.6Z"
            case .diamond: "M0 -4L4 0L0 4L-4 0Z"
            case .cross: "M-3.6 -1.2H-1.2V-3.6H1.2V-1.2H3.6V1.2H1.2V3.6H-1.2V1.2H-3.6Z"
            case .wedge: "M0 3.8L3.6 -2.8H-3.6Z"
            }
        }
    }
}

extension RunDigest {
    var palette: EnginePalette { EnginePalette(engines) }
}

extension Drawing {
    /// The mark of an engine at a place.
    static func mark(_ markup: inout Markup, _ palette: EnginePalette, engine: String, x: Double, y: Double) {
        markup.open(
            "path",
            [
                "class": "bar f\(palette.slot(engine))", "d": palette.mark(engine).path,
                "transform": "translate(\(number(x)) \(number(y)))",
            ])
        markup.close("path")
    }
}
