import StrataStorage

/// A cache of the elements around the last read place of a list or a set: reading one of them again is a load. Other
/// places are searched in the cached collection, without reading its row again.
///
/// It is valid for one version, or inside a write for one stamp. The window of a frozen Realm's collection, which
/// several threads may read, stays empty.
///
/// Concurrency: confined with its collection.
final class ElementWindow {
    @exclusivity(unchecked) private var stamp: UInt64 = 0
    /// Refers, like the tree, to memory of what the Realm shows under `stamp`: neither is read under another stamp.
    @exclusivity(unchecked) private var part: CollectionPart?
    /// Nil for a collection stored in its row, which has a single part.
    @exclusivity(unchecked) private var tree: Tree?
    @exclusivity(unchecked) private var tag = ColumnTag(_PropertyShape(.int), isPrimary: false)
    /// Converts values to elements.
    @exclusivity(unchecked) private(set) var context = _ElementContext.unmanaged

    /// A separate object: most collections are no trees, and their windows stay small.
    private final class Tree {
        let reader: CollectionReader

        init(_ reader: CollectionReader) { self.reader = reader }
    }

    /// Nil if the window is stale, or does not have the place.
    @inline(__always)
    func value(at place: Int, _ owner: ObjectBase) -> _StoredValue? {
        guard let part, stamp == owner._stamp, owner._isCurrent, let view = owner._instance?.currentView
        else { return nil }
        do throws(StorageError) {
            if place >= part.first, place < part.end { return try value(in: part, place, view) }
            return try valueElsewhere(place, view)
        } catch {
            // The caller reads it again, and reports the error.
            return nil
        }
    }

    @inline(never)
    private func valueElsewhere(_ place: Int, _ view: ReadView) throws(StorageError) -> _StoredValue? {
        guard let reader = tree?.reader, place >= 0, place < reader.count else { return nil }
        let found = try reader.part(at: place)
        let value = try value(in: found, place, view)
        part = found
        return value
    }

    @inline(__always)
    private func value(in part: CollectionPart, _ place: Int, _ view: ReadView) throws(StorageError) -> _StoredValue? {
        // An inner collection that is a tree is not read here.
        if part.isTree(at: place) { return nil }
        let value = tag.element(try part.value(at: place))
        try view.confirm()
        return value
    }

    /// Caches the part of a collection that an element was just read in.
    func show(
        _ part: CollectionPart, of contents: CollectionContents, _ context: _ElementContext, _ owner: ObjectBase
    ) {
        self.part = part
        tree = part.count < contents.count ? Tree(contents.reader) : nil
        tag = contents.tag
        self.context = context
        stamp = owner._stamp
    }
}
