#if SQLite
    /// Model classes for the file that an import makes, as Swift source.
    package struct SwiftText {
        private let layout: ClassLayout

        /// - Throws: `wrongInput` as an import with this mapping.
        package init(_ layout: StoreLayout, _ mapping: CoreDataMapping) throws(CoreDataError) {
            self.layout = try ClassLayout(layout, mapping)
        }

        package var text: String {
            var lines = ["import Strata", ""]
            for index in layout.classes.indices { lines += classLines(index) + [""] }
            return lines.joined(separator: "\n")
        }

        private func classLines(_ index: Int) -> [String] {
            let made = layout.classes[index]
            let hierarchy = layout.layout.hierarchies[index]
            var lines: [String] = []
            if hierarchy.isMixed {
                lines.append("/// Rows of \(hierarchy.entities.map(\.name).joined(separator: ", ")).")
            }
            lines.append("final class \(Self.name(made.name)): Object {")
            if made.key == nil {
                lines.append("    @Persisted(primaryKey: true, autoIncrement: true) var \(ClassLayout.keyName): Int")
            }
            for (column, source) in zip(made.columns, made.sources) {
                lines.append("    " + line(column.name, source, made))
            }
            lines += inverses(index)
            return lines + ["}"]
        }

        private func line(_ name: String, _ source: ClassLayout.Source, _ made: ClassLayout.Class) -> String {
            switch source {
            case .key: "@Persisted var \(name): Int"
            case .entity: "@Persisted var \(name): String"
            case .version: "@Persisted var \(name): Int?"
            case .attribute(let attribute):
                "@Persisted\(made.key == name ? "(primaryKey: true)" : "") var \(Self.name(name)): "
                    + Self.type(attribute)
            case .link(let link):
                "@Persisted\(Self.rule(link.relationship)) var \(Self.name(name)): "
                    + "\(Self.name(layout.classes[link.target].name))?"
            case .join(let place):
                "@Persisted\(layout.layout.joins[place].relationship.map(Self.rule) ?? "") var \(Self.name(name)): "
                    + "List<\(Self.name(layout.classes[layout.layout.joins[place].target].name))>"
            case .order(let place):
                "@Persisted\(Self.rule(layout.layout.orders[place].relationship)) var \(Self.name(name)): "
                    + "List<\(Self.name(layout.classes[layout.layout.orders[place].target].name))>"
            }
        }

        /// The inverse links of a class: to-many relationships without a column.
        private func inverses(_ index: Int) -> [String] {
            var taken = Set(layout.classes[index].columns.map(\.name))
            var lines: [String] = []
            func add(_ wanted: String, _ origin: String, property: String, rule: CoreDataDeleteRule?) {
                let name = taken.insert(wanted).inserted ? wanted : "\(wanted)Of\(origin)"
                taken.insert(name)
                if rule == .cascade || rule == .deny {
                    lines.append("    // In Core Data its delete rule was \(rule == .cascade ? "cascade" : "deny").")
                }
                lines.append(
                    "    @Persisted(originProperty: \"\(property)\") var \(Self.name(name)): "
                        + "LinkingObjects<\(Self.name(origin))>")
            }
            for (other, hierarchy) in layout.layout.hierarchies.enumerated() {
                for link in hierarchy.links where link.target == index {
                    // The other end of one-to-one has a column of its own.
                    guard let inverse = link.relationship.inverse,
                        !layout.layout.hierarchies[index].links.contains(where: { $0.relationship.name == inverse })
                    else { continue }
                    add(inverse, layout.classes[other].name, property: link.name, rule: nil)
                }
            }
            for join in layout.layout.joins where join.target == index {
                guard let inverse = join.inverseName else { continue }
                add(inverse, layout.classes[join.owner].name, property: join.name, rule: nil)
            }
            return lines
        }

        private static func rule(_ relationship: CoreDataRelationship) -> String {
            switch relationship.deleteRule {
            case .cascade: "(deleteRule: .cascade)"
            case .deny: "(deleteRule: .deny)"
            case .nullify, .noAction: ""
            }
        }

        private static func type(_ stored: StoredAttribute) -> String {
            let plain =
                switch stored.attribute.type {
                case .integer16, .integer32, .integer64: "Int"
                case .boolean: "Bool"
                case .string, .uri, .objectID: "String"
                case .date: "Date"
                case .float: "Float"
                case .double: "Double"
                case .decimal: "Decimal128"
                case .uuid: "UUID"
                case .transformable where stored.attribute.isDecoded, .any: "AnyRealmValue"
                case .data, .transformable: "Data"
                }
            return stored.isOptional && plain != "AnyRealmValue" ? plain + "?" : plain
        }

        private static let keywords: Set<String> = [
            "class", "default", "in", "is", "as", "for", "func", "var", "let", "return", "switch", "case", "where",
            "protocol", "extension", "operator", "repeat", "self", "init", "internal", "public", "private", "static",
            "struct", "enum", "import", "if", "else", "do", "try", "throw", "catch", "guard", "while", "break",
            "continue", "defer", "true", "false", "nil", "super", "throws", "any", "subscript", "typealias",
        ]

        private static func name(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }
    }
#endif
