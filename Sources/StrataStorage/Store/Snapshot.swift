/// A pinned version. The pin goes with the view.
package struct Snapshot: Sendable {
    package let view: ReadView

    /// The version is pinned for this snapshot already.
    init(_ store: Store, _ version: VersionState) { view = ReadView(version, store.reader, pinnedIn: store) }

    package var version: TransactionID { view.version }
}
