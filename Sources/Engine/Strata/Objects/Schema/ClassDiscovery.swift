import Synchronization

/// Finds every persisted class of the program, so that an application need not list them.
///
/// It reads the type metadata records that the linker leaves in each image: the program and its shared libraries. Of a
/// record's descriptor it reads only the documented head: flags, parent, name, metadata accessor, fields, superclass.
/// Complexity: O(types in the program), once per process; some hundred microseconds.
enum ClassDiscovery {
    private static let found = Mutex<[ObjectIdentifier: ObjectBase.Type]?>(nil)

    /// All subclasses of ``Object`` and ``EmbeddedObject`` that are not generic, unordered. Empty on systems other than
    /// Linux: there a configuration lists its `objectTypes`.
    static func allClasses() -> [ObjectBase.Type] {
        found.withLock { cache in
            if let cache { return Array(cache.values) }
            var classes: [ObjectIdentifier: ObjectBase.Type] = [:]
            let own: [ObjectBase.Type] = [Object.self, EmbeddedObject.self, DynamicObject.self]
            for type in walk() where !own.contains(where: { $0 == type }) {
                classes[ObjectIdentifier(type)] = type
            }
            cache = classes
            return Array(classes.values)
        }
    }

    #if os(Linux)
        private final class Collector { var classes: [ObjectBase.Type] = [] }

        private static func walk() -> [ObjectBase.Type] {
            let collector = Collector()
            enumerateMetadataSections(
                { sections, context in
                    guard let sections, let context else { return true }
                    let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
                    // Words: version, base, two unused, then pairs of start and length: protocols, conformances, types.
                    let start = sections.load(fromByteOffset: 8 * 8, as: UnsafeRawPointer?.self)
                    let length = sections.load(fromByteOffset: 9 * 8, as: Int.self)
                    guard let start else { return true }
                    for offset in stride(from: 0, to: length - 3, by: 4) {
                        if let type = ClassDiscovery.persistedClass(record: start + offset) {
                            collector.classes.append(type)
                        }
                    }
                    return true
                }, Unmanaged.passUnretained(collector).toOpaque())
            return collector.classes
        }

        /// The class of a record, if it is a subclass of ``ObjectBase`` and not generic.
        private static func persistedClass(record: UnsafeRawPointer) -> ObjectBase.Type? {
            let relative = record.load(as: Int32.self)
            let kind = relative & 3
            guard relative != 0, kind <= 1 else { return nil }
            var descriptor = record + Int(relative & ~3)
            if kind == 1 {
                guard let indirect = descriptor.load(as: UnsafeRawPointer?.self) else { return nil }
                descriptor = indirect
            }
            let flags = descriptor.load(as: UInt32.self)
            let isClass = flags & 0x1F == 16
            let isGeneric = flags & 0x80 != 0
            let superclass = descriptor.load(fromByteOffset: 20, as: Int32.self)
            guard isClass, !isGeneric, superclass != 0 else { return nil }
            let accessor = descriptor + 12 + Int(descriptor.load(fromByteOffset: 12, as: Int32.self))
            typealias Accessor = @convention(c) (Int) -> UnsafeRawPointer
            let metadata = unsafeBitCast(accessor, to: Accessor.self)(0)
            return unsafeBitCast(metadata, to: AnyClass.self) as? ObjectBase.Type
        }
    #else
        private static func walk() -> [ObjectBase.Type] { [] }
    #endif
}

#if os(Linux)
    @_silgen_name("swift_enumerateAllMetadataSections")
    private func enumerateMetadataSections(
        _ body: @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Bool,
        _ context: UnsafeMutableRawPointer?)
#endif
