import StrataStorage

extension Realm {
    /// An unreadable place of the file, and what is lost with it.
    public struct Damage: Sendable, CustomStringConvertible {
        /// What cannot be read.
        public enum Loss: Sendable, Equatable {
            /// Objects with keys in a range, and their number; nil if the page with the count is lost, too. Collections
            /// leave them out.
            case objects(keys: ClosedRange<Int64>, count: Int?)
            /// A value of one object, or elements of its collection; nil if the property is not known. The object's
            /// other properties are readable.
            case value(key: Int64, property: String?)
            /// The index, or the inverse links, of a property. Objects are still found without them, more slowly.
            case index(property: String?)
            /// It is not known what is lost.
            case unknown
        }

        /// The class; nil if it is not known to which class the page belongs.
        public let className: String?
        public let loss: Loss
        /// The first page of the unreadable node, in pages of 4 096 bytes; nil if it has none.
        public let page: Int?
        /// The kind of damage: `checksum`, `structure`, `unreadable` and others.
        public let reason: String
        /// Whether ``Realm/acknowledgeDamage()`` covers it.
        public let isAcknowledged: Bool
        /// The path of the file.
        public let path: String

        /// What is lost, where, and the remedy.
        public var description: String {
            let place = page.map { "page \($0)" } ?? "a place that has no page"
            return "\(path): \(place) is damaged (\(reason)): \(lost). Collections leave out what cannot be read; "
                + "writes throw `damaged` until acknowledgeDamage(). Remedy: put a copy of the file back, or open it "
                + "with onDamage = .salvage"
        }

        private var lost: String {
            let name = className ?? "a class that is not known"
            switch loss {
            case .objects(let keys, let count):
                let many = count.map { $0 == 1 ? "1 object" : "\($0) objects" } ?? "objects, how many is not known,"
                return "\(many) of \(name) with keys from \(keys.lowerBound) to \(keys.upperBound)"
            case .value(let key, let property):
                return "\(property.map { "'\($0)'" } ?? "a value") of \(name) \(key)"
            case .index(let property): return "the index of \(name).\(property ?? "?"); no object"
            case .unknown: return "what it held of \(name) is not known"
            }
        }

        var invalidAccessReport: Configuration.InvalidAccessReport {
            var key: Int64?
            if case .value(let row, _) = loss { key = row }
            return Configuration.InvalidAccessReport(
                className: className ?? "", key: key, version: 0, message: description)
        }
    }

    /// All places of the file that are known to be unreadable, in the order in which processes found them.
    ///
    /// The list outlives the process: it is stored beside the file in `NAME.damage`.
    public var damage: [Damage] {
        let schema = instance.currentView?.schema ?? StoreSchema()
        return instance.file.store.damage.places.map { place, isAcknowledged in
            Damage(place, schema, instance.file.configuration.path, isAcknowledged: isAcknowledged)
        }
    }

    /// Verifies every page of the Realm's version: rows, indexes, links, values, collections; then every rule of the
    /// format, as `strata check` does for a closed file. Damage is reported, and listed in ``damage`` from then on.
    ///
    /// - Parameter progress: called with the share that is done, from 0 to 1, on the calling thread.
    /// - Returns: what cannot be read in this version, acknowledged or not; empty for an intact file.
    /// - Throws: `wrongState` for an invalidated Realm; errors other than damage.
    /// - Complexity: reads the whole version.
    @discardableResult
    public func verify(progress: ((Double) -> Void)? = nil) throws -> [Damage] {
        try instance.requireHere()
        guard let view = instance.currentView else {
            throw RealmError(.wrongState, "the Realm was invalidated; refresh it before it is verified")
        }
        let survey = DamageSurvey(view) { share in
            progress?(share)
            return true
        }
        var places = try storage { () throws(StorageError) in try survey.run() }
        if places.isEmpty, !instance.isInWrite {
            do { try StoreVerification(of: instance.file.store).holdAgainstRules(view) } catch let error as StorageError
            {
                guard let place = DamagedPlace(error, table: nil) else { throw RealmError(error) }
                places.append(place)
            } catch {
                throw RealmError(
                    .invalidDatabase, "\(instance.file.configuration.path) breaks a rule of its format: \(error)")
            }
        }
        instance.failures.noteFound(places)
        let register = instance.file.store.damage
        return places.map {
            Damage($0, view.schema, instance.file.configuration.path, isAcknowledged: register.isAcknowledged($0))
        }
    }

    /// Acknowledges every place in ``damage``: the program continues with what is readable, and writes work again.
    ///
    /// When further damage is found, writes throw again. A write that has to read a lost page, such as the update or
    /// the deletion of an unreadable object, throws `invalidDatabase` and changes nothing.
    public func acknowledgeDamage() { instance.file.store.damage.acknowledge() }
}

extension Realm.Damage {
    init(_ place: DamagedPlace, _ schema: StoreSchema, _ path: String, isAcknowledged: Bool) {
        let table = place.table.flatMap { schema.table($0) }
        func name(_ column: UInt16?) -> String? { column.flatMap { table?.column(ColumnID($0)) }?.name }
        className = table?.name
        switch place.loss {
        case .rows(let keys, let count): loss = .objects(keys: keys, count: count)
        case .value(let row, let column): loss = .value(key: row, property: name(column))
        case .entries(let column): loss = .index(property: name(column))
        case .unknown: loss = .unknown
        }
        page = place.page.rawValue == 0 ? nil : Int(place.page.rawValue)
        reason = place.reason.rawValue
        self.isAcknowledged = isAcknowledged
        self.path = path
    }
}
