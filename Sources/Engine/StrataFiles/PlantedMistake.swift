#if Zoo
    import Platform
    import Synchronization

    /// A mistake that Strata, or a library for leaving another store, makes on purpose, so that a self-test can check
    /// that the scenarios of Assay find it. The tables of docs/self-test.md name the scenarios.
    ///
    /// A process has at most one, named by its environment and read once; its child processes inherit it. Without the
    /// trait Zoo neither the type nor its uses are compiled.
    package enum PlantedMistake: String, CaseIterable, Sendable {
        /// A trap of the policy `invalidAccess: .trap` has a wrong message.
        case wrongTrap = "strata-wrong-trap"
        /// That policy does not trap.
        case trapIgnored = "strata-trap-ignored"
        /// Damage and substituted reads are reported neither to a hook nor to standard error.
        case damageUntold = "strata-damage-untold"
        /// The count of results is that of the previous call.
        case staleCount = "strata-stale-count"
        /// A snapshot of results changes with the Realm.
        case snapshotMoves = "strata-snapshot-moves"
        /// A loop over results walks the rows of each step, not those of its start.
        case loopLive = "strata-loop-live"
        /// Results inside a write show the state before it.
        case writeStale = "strata-write-stale"
        /// A deleted object claims to be valid.
        case invalidationDenied = "strata-invalidation-denied"
        /// The hash of an object changes when it is deleted.
        case identityChanges = "strata-identity-changes"
        /// An object follows its key to a row that was created later.
        case creationIgnored = "strata-creation-ignored"
        /// The row after the one to be deleted is deleted instead.
        case deleteNeighbour = "strata-delete-neighbour"
        /// The last of several objects is not deleted.
        case deleteSliceShort = "strata-delete-slice-short"
        /// A cancelled write is committed.
        case rollbackKeeps = "strata-rollback-keeps"
        /// Every third commit is acknowledged without being made.
        case commitForgotten = "strata-commit-forgotten"
        /// Thread confinement is not checked.
        case threadUnchecked = "strata-thread-unchecked"
        /// A reference between threads can be resolved repeatedly.
        case referenceReused = "strata-reference-reused"
        /// A reference between threads pins the version that it was made in.
        case referencePins = "strata-reference-pins"
        /// The pages of a pinned version are reused.
        case pinIgnored = "strata-pin-ignored"
        /// A version without pins is kept.
        case pinKept = "strata-pin-kept"
        /// Observers pin every version that they were notified of.
        case observerPins = "strata-observer-pins"
        /// The limit of pinned versions is ignored.
        case limitIgnored = "strata-limit-ignored"
        /// Every third notification is not delivered.
        case lostNotification = "strata-lost-notification"
        /// Notifications are delivered twice.
        case observerTwice = "strata-observer-twice"
        /// The first place of a change set is one too high.
        case wrongChangeset = "strata-wrong-changeset"
        /// A change set leaves its modifications out.
        case modificationLost = "strata-modification-lost"
        /// The deletion of an observed object is not notified.
        case deletionUntold = "strata-deletion-untold"
        /// Only the first name of a key path is observed.
        case keyPathDeaf = "strata-key-path-deaf"
        /// Observation of a collection without key paths follows one link instead of four.
        case linksUnfollowed = "strata-links-unfollowed"
        /// Tokens that a commit excludes are notified of it.
        case silenceIgnored = "strata-silence-ignored"
        /// A Realm wakes more than a second after a commit.
        case wakeLate = "strata-wake-late"
        /// A write waits a tenth of a second before it begins.
        case writeWaits = "strata-write-waits"
        /// Asynchronous writes run in the reverse order.
        case asyncOrder = "strata-async-order"
        /// A cascading deletion leaves the last object.
        case cascadeMissesOne = "strata-cascade-misses-one"
        /// Backlinks miss the last one.
        case backlinkLost = "strata-backlink-lost"
        /// Deleting an object that occurs several times in a list removes only its first occurrence.
        case listDuplicateKept = "strata-list-duplicate-kept"
        /// Of all links to a deleted object the last one stays.
        case linkLeft = "strata-link-left"
        /// Embedded objects stay when their parent drops them.
        case childKept = "strata-child-kept"
        /// An upsert leaves the last of its properties out.
        case upsertLosesProperty = "strata-upsert-loses-property"
        /// A migration enumerates no objects of any class.
        case migrationSkipsClass = "strata-migration-skips-class"
        /// A migration skips the last object of each step of its enumeration.
        case migrationSkipsRow = "strata-migration-skips-row"
        /// After an error in a migration block, its earlier changes are committed.
        case migrationHalf = "strata-migration-half"
        /// The new schema version is committed before the migration.
        case versionFirst = "strata-version-first"
        /// The first of several migration steps is skipped.
        case versionSkipped = "strata-version-skipped"
        /// A migration leaks memory for each enumerated object.
        case migrationHoards = "strata-migration-hoards"
        /// A renamed property loses its values.
        case renameLosesValues = "strata-rename-loses-values"
        /// A value whose type changes is cleared.
        case typeChangeZero = "strata-type-change-zero"
        /// Missing values of a required property are filled with blanks.
        case nullsBlank = "strata-nulls-blank"
        /// A new primary key is accepted with duplicate values.
        case duplicatesUnchecked = "strata-duplicates-unchecked"
        /// The copy of an object that becomes embedded misses its last value.
        case copyLosesValue = "strata-copy-loses-value"
        /// A file of a newer program version is opened as if it were older.
        case versionDown = "strata-version-down"
        /// A read-only file is opened with any schema.
        case readOnlyIgnored = "strata-read-only-ignored"
        /// A program keeps writing after another one has migrated the file.
        case oldSchemaWrites = "strata-old-schema-writes"
        /// A query's filter also takes rows whose value is null.
        case queryNullsMatch = "strata-query-nulls-match"
        /// A sort reverses the initial order of equal elements.
        case sortUnstable = "strata-sort-unstable"
        /// An IN predicate scans the class once for each of its values.
        case inPasses = "strata-in-passes"
        /// An unmanaged set is searched linearly for each member.
        case setSearched = "strata-set-searched"
        /// Adding an observer scans all observers.
        case observersSwept = "strata-observers-swept"
        /// The section of a key is searched from the first one.
        case sectionSearched = "strata-section-searched"
        /// Cached results of a list are dropped at each query inside a write.
        case listForgotten = "strata-list-forgotten"
        /// Each commit compares a unique key with the whole class.
        case uniqueScanned = "strata-unique-scanned"
        /// A frozen Realm evaluates all keys of a class when its objects are requested.
        case frozenListed = "strata-frozen-listed"
        /// Each commit evaluates all members of all sections.
        case sectionsAnew = "strata-sections-anew"
        /// A sync of the log does nothing, so that commits return before they are durable.
        case commitWithoutSync = "strata-commit-without-sync"
        /// The log repeats a sync that failed, and believes the second result.
        case syncTriedAgain = "strata-sync-tried-again"
        /// A checkpoint writes its header slot without a sync of its pages before.
        case checkpointWithoutSync = "strata-checkpoint-without-sync"
        /// A follower does not wait for the leader's sync.
        case followerWithoutSync = "strata-follower-without-sync"
        /// Recovery accepts a torn batch of the log.
        case tornBatchTaken = "strata-torn-batch-taken"
        /// Recovery drops the last batch of the log.
        case recoveryDropsLast = "strata-recovery-drops-last"
        /// In upper branches of a table's tree, a search for the first key of a child leads to its left neighbour.
        case branchSearch = "strata-branch-search"
        /// Readers accept nodes with wrong checksums.
        case checksumUnchecked = "strata-checksum-unchecked"

        // Storage.

        /// In the lowest branches of a table's tree, a search for the first key of a group leads to its left neighbour.
        case leafSearch = "strata-leaf-search"
        /// A file grows by 16 MiB under any policy.
        case growsFar = "strata-grows-far"
        /// The store does not sync a header slot that it has written.
        case slotWithoutSync = "strata-slot-without-sync"
        /// The store does not sync the directory in which it has made a log.
        case logNameWithoutSync = "strata-log-name-without-sync"
        /// Recovery drops the last of several commits in one log batch.
        case groupEndLost = "strata-group-end-lost"
        /// Recovery replays no deletions.
        case deletionNotReplayed = "strata-deletion-not-replayed"
        /// A pinned version loses its protection when a newer one becomes visible.
        case pinEndsEarly = "strata-pin-ends-early"
        /// Of several changes of one value in a transaction the first counts.
        case secondUpdateLost = "strata-second-update-lost"
        /// A compaction writes long texts without their contents.
        case compactionEmptiesTexts = "strata-compaction-empties-texts"
        /// A compaction drops the last row of each row group.
        case compactionLosesRows = "strata-compaction-loses-rows"

        /// The owner of writing ignores the pins of other processes, and uses pages of those versions again.
        case foreignPinIgnored = "strata-foreign-pin-ignored"
        /// Of the writers that wait, the one that came last is the next.
        case lastWriterFirst = "strata-last-writer-first"
        /// The file layer takes a partial write of the system for a whole one.
        case shortWriteBelieved = "strata-short-write-believed"

        // Sealed storage.

        /// All pages and batches are sealed under one nonce.
        case nonceConstant = "strata-nonce-constant"
        /// Nonces are counted, from one in each process.
        case nonceCounted = "strata-nonce-counted"
        /// Records of an encrypted store's log are plain, behind zeros in place of nonce and tag.
        case logUnsealed = "strata-log-unsealed"

        // Repair.

        /// A check of a store ignores violations and unreadable pages.
        case checkForgives = "strata-check-forgives"
        /// A salvage counts its first row as saved without writing it.
        case salvageLosesRow = "strata-salvage-loses-row"
        /// A salvage does not look for a log.
        case salvageLogForgotten = "strata-salvage-log-forgotten"
        /// A salvage reports no lost rows.
        case salvageLossUntold = "strata-salvage-loss-untold"

        // Queries.

        /// A comparison "at most the least integer" has no matches.
        case leastIntegerMissed = "strata-least-integer-missed"
        /// Every number is at most NaN.
        case nanMatches = "strata-nan-matches"
        /// In an index the two zeros differ.
        case zerosDiffer = "strata-zeros-differ"
        /// Texts of 64 bytes and more are equal if they differ only in their last byte.
        case longTextsEqual = "strata-long-texts-equal"
        /// Sums and extremes skip rows that were inserted between others.
        case sumsWithoutInserted = "strata-sums-without-inserted"
        /// A substring search skips the last position of a text.
        case textEndUnsearched = "strata-text-end-unsearched"
        /// Of several rows for an index entry the last one is dropped.
        case indexStopsShort = "strata-index-stops-short"
        /// A range of an index excludes the rows of its last value.
        case indexEndMissed = "strata-index-end-missed"
        /// Indexes keep the entry of a value that becomes null.
        case nullUntold = "strata-null-untold"
        /// A mean counts objects without a value.
        case meanCountsNulls = "strata-mean-counts-nulls"
        /// A limit admits one object too many.
        case limitOneMore = "strata-limit-one-more"
        /// Objects with equal first properties count as duplicates, whatever their other properties are.
        case distinctByFirst = "strata-distinct-by-first"
        /// Of several sort properties only the first one counts.
        case sortByFirst = "strata-sort-by-first"
        /// Case is folded only for ASCII letters.
        case foldsASCIIAlone = "strata-folds-ascii-alone"

        // Objects.

        /// An upsert clears the plain properties that it was not given.
        case upsertEmpties = "strata-upsert-empties"
        /// An element that moves to or from beyond the thousandth place of a list ends one place too low.
        case farMoveShort = "strata-far-move-short"
        /// A list removes the element before the one to be removed.
        case listRemovesNeighbour = "strata-list-removes-neighbour"
        /// A list inserts after an element instead of before it.
        case listInsertsBehind = "strata-list-inserts-behind"
        /// A cascading deletion stops three objects below the deleted one.
        case cascadeShallow = "strata-cascade-shallow"
        /// An object that a rule deletes with its last owner is deleted with the first.
        case sharedDeleted = "strata-shared-deleted"
        /// A rule that denies a deletion is ignored.
        case denyIgnored = "strata-deny-ignored"

        // Realms and threads.

        /// A Realm freezes the newest version instead of the one that it shows.
        case freezeTakesNewest = "strata-freeze-takes-newest"

        // Notifications.

        /// A change set leaves its insertions out.
        case insertionLost = "strata-insertion-lost"
        /// A change set leaves its deletions out.
        case deletionLost = "strata-deletion-lost"
        /// A change set with deletions leaves its modifications out.
        case modificationBesideDeletion = "strata-modification-beside-deletion"

        // Migration.

        /// A migration skips the last object of a class whose number of objects is a multiple of 1 024.
        case fullStepShort = "strata-full-step-short"

        // Processes.

        /// Every third commit does not ring the bells of other processes.
        case bellLost = "strata-bell-lost"
        /// A process looks every millisecond whether another one has rung.
        case attendantPolls = "strata-attendant-polls"
        /// The owner of writing leaves changes of values out of the records that guests submit.
        case guestUpdateLost = "strata-guest-update-lost"

        // Two stores that are written at the same time (StoreMigration).

        /// An entry leaves the outbox before the second store has it.
        case outboxEntryLost = "migration-lost-outbox-entry"
        /// An entry is added to the outbox only after the first store has its batch.
        case outboxLate = "migration-outbox-late"
        /// A waiting batch is written after later ones.
        case waitingOrder = "migration-wrong-order"
        /// Changes after the cut-over are not recorded for the way back.
        case changeUnnoted = "migration-change-unnoted"
        /// The hash of a record treats null as 0.
        case hashedNullIsZero = "migration-null-is-zero"
        /// The rule by which the newer record wins keeps the older one.
        case olderWins = "migration-older-wins"
        /// A comparison skips the last differing range.
        case rangeSkipped = "migration-range-skipped"
        /// Hashes are computed from the sent values, not from the stored ones.
        case hashStale = "migration-hash-stale"
        /// A record that the rule leaves alone is mended from the old store.
        case leaveIgnored = "migration-leave-ignored"
        /// Closing a writer drops the waiting batches.
        case switchDropsWaiting = "migration-switch-drops-waiting"
        /// Reopening a writer restores the previous phase.
        case phaseForgotten = "migration-phase-forgotten"
        /// A compaction of the closed stores returns without compacting.
        case closedUncompacted = "migration-compaction-nothing"

        // Imports from Core Data (CoreDataFiles).

        /// A dangling link or pair is dropped without a finding.
        case danglingUntold = "coredata-dangling-untold"
        /// A null of an integer is imported as 0.
        case importedNullIsZero = "coredata-null-is-zero"
        /// A later import misses a changed row.
        case changeMissed = "coredata-change-missed"
        /// A later import keeps deleted rows.
        case deletionKept = "coredata-deletion-kept"
        /// Lists lack their last element.
        case importedListShort = "coredata-list-short"
        /// A resumed import does not check whether rows that it had written have changed.
        case resumeForgets = "coredata-resume-forgets"
        /// A verification counts differing rows as equal.
        case verificationForgives = "coredata-verification-forgives"

        package static let variable = "ASSAY_ZOO_MISTAKE"

        /// Nil if the environment names none of these mistakes: it may name one of another engine.
        private static let chosen = getenv(variable).flatMap { PlantedMistake(rawValue: String(cString: $0)) }

        package var isPlanted: Bool { self == Self.chosen }

        private static let asked = Atomic<UInt64>(0)

        /// For a mistake that is made every third time: whether it is planted and due.
        package var isDue: Bool { isPlanted && Self.asked.add(1, ordering: .relaxed).newValue % 3 == 0 }

        /// One more each time, from one in each process.
        package static func next() -> UInt64 { asked.add(1, ordering: .relaxed).newValue }

        package static func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

        private static let hoarded = Mutex<[[UInt8]]>([])

        /// Allocates memory and keeps it.
        package static func hoard(bytes: Int) {
            hoarded.withLock { $0.append([UInt8](repeating: 0x5A, count: bytes)) }
        }
    }
#endif
