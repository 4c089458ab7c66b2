// Printed forms of collections: see ``Description``.

extension List: Describing {
    func described(_ depth: Int) -> String { Description.elements("List", self, identity: self, depth: depth) }
    /// Its elements, and what they lead to.
    public var description: String { described(Description.depth) }
}

extension MutableSet: Describing {
    func described(_ depth: Int) -> String { Description.elements("MutableSet", self, identity: self, depth: depth) }
    /// Its members, and the objects they lead to.
    public var description: String { described(Description.depth) }
}

extension Map: Describing, CustomStringConvertible {
    func described(_ depth: Int) -> String {
        let lines = prefix(Description.shownElements).map { "[\($0.key)]: \(Description.text($0.value, depth - 1))" }
        return Description.collection(
            "Map<string, ", of: Value._elementShape, identity: self, count: count, lines: lines)
    }

    /// Its entries, and the objects they lead to.
    public var description: String { described(Description.depth) }
}

extension Results: Describing {
    func described(_ depth: Int) -> String {
        Description.elements("Results", self, identity: _source ?? _values?.source, depth: depth)
    }

    /// The present elements, and the objects they lead to.
    public var description: String { described(Description.depth) }
}

extension LinkingObjects: Describing {
    func described(_ depth: Int) -> String {
        Description.elements("LinkingObjects", self, identity: _source ?? anchor, depth: depth)
    }
    /// The linking objects, and the objects they lead to.
    public var description: String { described(Description.depth) }
}

extension AnyRealmCollection: Describing {
    func described(_ depth: Int) -> String {
        Description.elements("AnyRealmCollection", self, identity: _source ?? _values?.source, depth: depth)
    }

    /// Its elements, and the objects they lead to.
    public var description: String { described(Description.depth) }
}
