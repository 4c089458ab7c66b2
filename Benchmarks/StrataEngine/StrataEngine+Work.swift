import Harness

private let cache = "the map of the file"
private let later = "outside: a checkpoint in the background, the rest at close"
private let turns = "threads take turns in the order of their requests; one sync covers all threads that wait"

extension StrataEngine {
    private var readRowsNote: WorkNote {
        WorkNote(
            transaction: "none", snapshot: "refresh() per call",
            perRow: "object(ofType:forPrimaryKey:), three properties; a range is a query on the key",
            cache: cache)
    }

    private var changeRowsNote: WorkNote {
        WorkNote(
            transaction: "a write each", snapshot: "the writer's",
            perRow: "object(ofType:forPrimaryKey:), a property set",
            cache: cache, writeBack: later)
    }

    package func workNote(_ work: Work) -> WorkNote? {
        switch work {
        case .open:
            WorkNote(
                transaction: "none", snapshot: "that of the Realm",
                perRow: "Realm(configuration:), object(ofType:), a property",
                cache: "none: a new process")
        case .load:
            WorkNote(
                transaction: "a Realm opened, one write", snapshot: "the writer's",
                perRow: "an object made, its properties set, add()", cache: cache, writeBack: later)
        case .insertEach:
            WorkNote(
                transaction: "a write each", snapshot: "the writer's",
                perRow: "an object made, add(), which refuses a key that is there", cache: cache, writeBack: later)
        case .insertThreads:
            WorkNote(
                transaction: "a write each; \(turns)", snapshot: "the writer's",
                perRow: "as from one thread, a Realm per thread", cache: cache, writeBack: later)
        case .readPoints:
            WorkNote(
                transaction: "none", snapshot: "one for the batch (`snapshot=each`: refresh() per read)",
                perRow: "object(ofType:forPrimaryKey:), a property", cache: cache)
        case .readRows: readRowsNote
        case .sum:
            WorkNote(transaction: "none", snapshot: "one", perRow: "sum(of:), by packed columns", cache: cache)
        case .iterate:
            WorkNote(transaction: "none", snapshot: "one", perRow: "an object, a property", cache: cache)
        case .traverse:
            WorkNote(
                transaction: "none", snapshot: "one for the walk",
                perRow: "a list or the objects that link, a property",
                cache: cache)
        case .readHeld:
            WorkNote(
                transaction: "none", snapshot: "one",
                perRow: "a property, references counted as Swift does (label `unmanaged`: not counted)", cache: cache)
        case .update:
            WorkNote(
                transaction: "one write", snapshot: "the writer's",
                perRow: "object(ofType:forPrimaryKey:), a property set", cache: cache, writeBack: later)
        case .changeRows: changeRowsNote
        case .delete:
            WorkNote(
                transaction: "one write", snapshot: "the writer's",
                perRow: "object(ofType:forPrimaryKey:); delete() of all, which empties lists of links to them",
                cache: cache, writeBack: later)
        case .check:
            WorkNote(
                transaction: "none", snapshot: "one",
                perRow: "as strata check: checksum of every node, order and counts of trees, indexes and backlinks "
                    + "against the columns, owners of pages", cache: "the map of the file")
        }
    }
}

extension StorageEngine {
    package func workNote(_ work: Work) -> WorkNote? {
        switch work {
        case .open:
            WorkNote(
                transaction: "none", snapshot: "one", perRow: "Store.open, the schema, a cell",
                cache: "none: a new process")
        case .load:
            WorkNote(
                transaction: "one", snapshot: "the writer's", perRow: "cells without copying texts", cache: cache,
                writeBack: later)
        case .insertEach, .insertThreads:
            WorkNote(
                transaction: "one each; \(turns)", snapshot: "the writer's",
                perRow: "cells without copying texts", cache: cache, writeBack: later)
        case .readPoints:
            WorkNote(
                transaction: "none", snapshot: "one for the batch (`snapshot=each`: one per read)",
                perRow: "a row located, a cell", cache: cache)
        case .readRows:
            WorkNote(
                transaction: "none", snapshot: "one per call",
                perRow: "a row located, three cells; of a range the keys first",
                cache: cache)
        case .sum: WorkNote(transaction: "none", snapshot: "one", perRow: "by packed columns", cache: cache)
        case .iterate:
            WorkNote(
                transaction: "none", snapshot: "one",
                perRow: "decoded columns in batches, as storage hands them out: a figure of its own", cache: cache)
        case .traverse, .readHeld: nil
        case .update:
            WorkNote(
                transaction: "one", snapshot: "the writer's", perRow: "a cell set by key", cache: cache,
                writeBack: later)
        case .changeRows:
            WorkNote(
                transaction: "one each", snapshot: "the writer's",
                perRow: "a cell set; read-modify-write: a row located before it, its cells read",
                cache: cache, writeBack: later)
        case .delete:
            WorkNote(
                transaction: "one", snapshot: "the writer's", perRow: "a row deleted by key", cache: cache,
                writeBack: later)
        case .check:
            WorkNote(
                transaction: "none", snapshot: "one",
                perRow: "as strata check: checksum of every node, order and counts of trees, indexes and backlinks "
                    + "against the columns, owners of pages", cache: "the map of the file")
        }
    }
}
