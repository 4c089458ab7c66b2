/// A pinned version. Releasing the view ends the pin.
package struct Snapshot: Sendable {
    package let view: ReadView
    /// Number of the publication that made it the newest version; nil without a process table.
    let publication: UInt64?

    /// - Precondition: the version is pinned for this snapshot.
    init(_ store: Store, _ version: VersionState, _ publication: UInt64? = nil) {
        view = ReadView(version, store.reader, pinnedIn: store)
        self.publication = publication
    }

    package var version: TransactionID { view.version }
}
