#if SQLite
    /// The output of `strata coredata info`: for each property its type, its column, and which source named it.
    package struct StoreDescription {
        package let layout: StoreLayout
        package let notes: [String]
        /// Rows per table, in the order of the hierarchies.
        package let rows: [Int]

        /// - Parameter place: a copy of the store is made in the folder of this path, and removed.
        /// - Throws: the errors of an import.
        package init(
            _ source: String, modelPath: String?, mapping: CoreDataMapping, beside place: String
        ) throws(CoreDataError) {
            let copy = try SourceCopy(of: source, beside: place)
            defer { withExtendedLifetime(copy) {} }
            let file = try copy.connection()
            defer { file.close() }
            let model = try modelPath.map { path throws(CoreDataError) in try ModelSources.model(at: path) }
            layout = try LayoutReading.read(file, model: model, mapping: mapping)
            var counts: [Int] = []
            for hierarchy in layout.hierarchies {
                counts.append(Int(try file.integer("SELECT count(*) FROM \(quoted(hierarchy.table))") ?? 0))
            }
            rows = counts
            notes = copy.notes + layout.notes
        }

        package var lines: [String] {
            var lines = ["  store       \(layout.uuid)", "  history     \(layout.hasHistory ? "yes" : "no")"]
            if !layout.leftOut.isEmpty { lines.append("  left out    \(layout.leftOut.joined(separator: ", "))") }
            lines += notes.map { "  note        \($0)" }
            for (hierarchy, rows) in zip(layout.hierarchies, rows) {
                lines += ["", "\(hierarchy.root.name): \(rows) rows in \(hierarchy.table)"]
                if hierarchy.isMixed {
                    lines.append("  entities: " + hierarchy.entities.map(\.name).joined(separator: ", "))
                }
                for attribute in hierarchy.attributes {
                    let words = [
                        attribute.attribute.type.rawValue, attribute.isOptional ? "optional" : "required",
                        attribute.isExternal ? "external blobs" : "",
                    ]
                    lines.append(
                        "  \(attribute.name): \(words.filter { !$0.isEmpty }.joined(separator: ", ")); "
                            + "\(attribute.column), by \(attribute.attribute.origin.rawValue)")
                }
                for link in hierarchy.links {
                    lines.append(
                        "  \(link.name): link to \(link.relationship.target)"
                            + (link.relationship.inverse.map { ", inverse \($0)" } ?? "")
                            + ", \(link.relationship.deleteRule); \(link.column), by "
                            + "\(link.relationship.origin.rawValue)")
                }
            }
            for join in layout.joins {
                lines += [
                    "",
                    "\(join.table): \(layout.hierarchies[join.owner].root.name).\(join.name), many "
                        + layout.hierarchies[join.target].root.name
                        + (join.ownerOrderColumn == nil ? "" : ", ordered")
                        + (join.inverseName.map { ", inverse \($0)" } ?? ""),
                ]
            }
            for order in layout.orders {
                let owner = layout.hierarchies[order.owner].root.name
                lines += ["", "\(owner).\(order.name): ordered by \(order.orderColumn)"]
            }
            return lines
        }
    }
#endif
