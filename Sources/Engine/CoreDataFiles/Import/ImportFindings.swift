/// The irregularities that an import or a comparison found. Nothing is dropped without a finding.
package struct ImportFindings: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A link to a missing row; it is null in the new file.
        case danglingLink = "dangling link"
        /// A row of a many-to-many or ordered relationship that lacks an end.
        case danglingJoin = "dangling join row"
        /// The same pair twice; both are kept.
        case duplicateJoin = "duplicate join row"
        /// The entity number beside a link is not its target's; the link is kept.
        case wrongEntity = "link with another entity's number"
        /// A row whose Z_ENT no entity has; the mapping leaves it out.
        case unknownEntity = "row of an unknown entity"
        case missingBlob = "missing external blob"
        /// A transformable that could not be decoded; its bytes are kept.
        case undecoded = "value that is no plain keyed archive"
        /// Null in a required property; the property became optional.
        case unexpectedNull = "null in a required property"
        case lowMaximum = "Z_MAX below a key"
        /// Found by a verification, as are the next three.
        case missingRow = "row that the new file lacks"
        case extraRow = "row that the store lacks"
        case differentRow = "row that differs"
        case differentList = "list that differs"
    }

    package private(set) var counts: [Kind: Int] = [:]
    package private(set) var lines: [String] = []
    private static let mostLines = 200

    package init() {}

    /// The number of differences between the store and the new file: of the findings, a verification counts these
    /// alone.
    package var differences: Int {
        [.missingRow, .extraRow, .differentRow, .differentList].reduce(0) { $0 + counts[$1, default: 0] }
    }

    mutating func add(_ kind: Kind, _ line: @autoclosure () -> String) {
        #if Zoo
            if PlantedMistake.danglingUntold.isPlanted, kind == .danglingLink || kind == .danglingJoin { return }
        #endif
        counts[kind, default: 0] += 1
        if lines.count < Self.mostLines { lines.append("\(kind.rawValue): \(line())") }
    }

    mutating func addCount(_ kind: Kind, _ count: Int) { counts[kind, default: 0] += count }

    mutating func addLines(_ more: [String]) { lines += more.prefix(max(0, Self.mostLines - lines.count)) }

    package var summary: [String] {
        Kind.allCases.compactMap { kind in counts[kind].map { "\(kind.rawValue): \($0)" } } + lines
    }
}
