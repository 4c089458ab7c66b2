#if Zoo
    import StrataStorage

    /// An upsert that clears the properties it was not given.
    enum MistakenUpsert {
        static func empty(
            _ object: ObjectBase, _ access: ClassAccess, but pairs: [(String, Any)], _ write: RunningWrite
        ) {
            let given = Set(pairs.map(\.0))
            for property in access.properties where property.column >= 0 && !given.contains(property.name) {
                if property.isPrimary || property.isLinkingObjects || property.tag.collection != .none { continue }
                let nothing: _StoredValue
                switch property.tag.type {
                case .int, .bool: nothing = .integer(0)
                case .float, .double: nothing = .double(0)
                case .string: nothing = .text("")
                default: continue
                }
                write.store(
                    in: object, access: access, column: property.column,
                    value: property.tag.isOptional ? .null : nothing)
            }
        }
    }
#endif
