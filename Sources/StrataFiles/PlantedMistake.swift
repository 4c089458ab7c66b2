#if Zoo
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Something that the engine does wrong on purpose, so that a self-test sees whether its scenarios find it.
    ///
    /// A process has one at most, named by its environment and read once; processes that it starts inherit it. Where
    /// the trait Zoo is off there is neither the type nor a place that asks.
    package enum PlantedMistake: String, CaseIterable, Sendable {
        /// A trap of the policy `invalidAccess: .trap` has another text.
        case wrongTrap = "strata-wrong-trap"
        /// Under that policy nothing traps.
        case trapIgnored = "strata-trap-ignored"
        /// Damage and substituted reads reach no hook, and not standard error.
        case damageUntold = "strata-damage-untold"
        /// The count of results is that of the look before.
        case staleCount = "strata-stale-count"
        /// A snapshot of results shows what the Realm shows.
        case snapshotMoves = "strata-snapshot-moves"
        /// A loop over results walks the rows of each step, not those of its start.
        case loopLive = "strata-loop-live"
        /// Results inside a write are what they were before it.
        case writeStale = "strata-write-stale"
        /// What was deleted says that it is there.
        case invalidationDenied = "strata-invalidation-denied"
        /// The hash of an object changes when it is deleted.
        case identityChanges = "strata-identity-changes"
        /// An object is whatever row has its key now.
        case creationIgnored = "strata-creation-ignored"
        /// The row behind the one that is to be deleted goes.
        case deleteNeighbour = "strata-delete-neighbour"
        /// The last of several objects is not deleted.
        case deleteSliceShort = "strata-delete-slice-short"
        /// A write that was cancelled is committed.
        case rollbackKeeps = "strata-rollback-keeps"
        /// Every third commit is acknowledged and not done.
        case commitForgotten = "strata-commit-forgotten"
        /// Any thread may use anything.
        case threadUnchecked = "strata-thread-unchecked"
        /// A reference between threads can be resolved again and again.
        case referenceReused = "strata-reference-reused"
        /// A reference between threads keeps the version that it was made in.
        case referencePins = "strata-reference-pins"
        /// The pages of a version that somebody reads are used again.
        case pinIgnored = "strata-pin-ignored"
        /// A version that nobody reads any more is kept.
        case pinKept = "strata-pin-kept"
        /// Observers keep every version that they were told of.
        case observerPins = "strata-observer-pins"
        /// Any number of versions may be held.
        case limitIgnored = "strata-limit-ignored"
        /// Every third notification is not delivered.
        case lostNotification = "strata-lost-notification"
        /// Notifications come twice.
        case observerTwice = "strata-observer-twice"
        /// The first place of a change set is one too high.
        case wrongChangeset = "strata-wrong-changeset"
        /// A change set leaves its modifications out.
        case modificationLost = "strata-modification-lost"
        /// Nobody is told that an observed object was deleted.
        case deletionUntold = "strata-deletion-untold"
        /// Key paths are looked at up to their first name.
        case keyPathDeaf = "strata-key-path-deaf"
        /// A collection that is observed without key paths follows one link, and not four.
        case linksUnfollowed = "strata-links-unfollowed"
        /// Tokens that a commit was to spare are told of it.
        case silenceIgnored = "strata-silence-ignored"
        /// A Realm that is woken by a commit takes more than a second.
        case wakeLate = "strata-wake-late"
        /// A write waits a tenth of a second before it begins.
        case writeWaits = "strata-write-waits"
        /// Asynchronous writes run in the reverse order.
        case asyncOrder = "strata-async-order"
        /// A rule to cascade leaves the last object out.
        case cascadeMissesOne = "strata-cascade-misses-one"
        /// Backlinks lack their last one.
        case backlinkLost = "strata-backlink-lost"
        /// Of an object that stands several times in a list, its deletion takes the first out.
        case listDuplicateKept = "strata-list-duplicate-kept"
        /// Of all links that lead to a deleted object the last one stays.
        case linkLeft = "strata-link-left"
        /// Embedded objects whose parent lets go of them stay.
        case childKept = "strata-child-kept"
        /// An upsert leaves the last of its properties out.
        case upsertLosesProperty = "strata-upsert-loses-property"
        /// A migration walks no object of any class.
        case migrationSkipsClass = "strata-migration-skips-class"
        /// A migration leaves the last object of each step of its walk out.
        case migrationSkipsRow = "strata-migration-skips-row"
        /// An error in a migration block is thrown, and what the block did until then is committed.
        case migrationHalf = "strata-migration-half"
        /// The new schema version is committed before the migration.
        case versionFirst = "strata-version-first"
        /// The first of several steps of a migration is left out.
        case versionSkipped = "strata-version-skipped"
        /// A migration keeps something of each object that it walks.
        case migrationHoards = "strata-migration-hoards"
        /// A renamed property has lost its values.
        case renameLosesValues = "strata-rename-loses-values"
        /// A value whose type changes becomes empty.
        case typeChangeZero = "strata-type-change-zero"
        /// Values that a required property lacks are made up.
        case nullsBlank = "strata-nulls-blank"
        /// A new primary key may have values that stand twice.
        case duplicatesUnchecked = "strata-duplicates-unchecked"
        /// The copy of an object that becomes embedded lacks its last value.
        case copyLosesValue = "strata-copy-loses-value"
        /// A file of a newer program is opened as if it were an older one.
        case versionDown = "strata-version-down"
        /// A read-only file is opened whatever its schema.
        case readOnlyIgnored = "strata-read-only-ignored"
        /// A program writes on after another one has migrated the file.
        case oldSchemaWrites = "strata-old-schema-writes"
        /// A query's filter also takes rows whose value is null.
        case queryNullsMatch = "strata-query-nulls-match"
        /// A sort reverses what it began with.
        case sortUnstable = "strata-sort-unstable"
        /// An IN is a pass over the class for each of its values.
        case inPasses = "strata-in-passes"
        /// A set that nothing manages is searched from its start for each member.
        case setSearched = "strata-set-searched"
        /// All observers are looked at for each one that is added.
        case observersSwept = "strata-observers-swept"
        /// The section of a key is looked for from the first one on.
        case sectionSearched = "strata-section-searched"
        /// What was found of a list is looked for again at each question inside a write.
        case listForgotten = "strata-list-forgotten"
        /// A unique key is held against the whole class at each commit.
        case uniqueScanned = "strata-unique-scanned"
        /// A frozen Realm evaluates all keys of a class when the program asks for its objects.
        case frozenListed = "strata-frozen-listed"
        /// All members of all sections are looked at for each commit.
        case sectionsAnew = "strata-sections-anew"
        /// A commit does not wait for the disk.
        case commitWithoutSync = "strata-commit-without-sync"
        /// A sync of the log that failed is made again, and what the second one says is believed.
        case syncTriedAgain = "strata-sync-tried-again"
        /// A checkpoint's header slot is written without a sync of the pages that it leads to; a compaction's, too.
        case checkpointWithoutSync = "strata-checkpoint-without-sync"
        /// Who finds another thread leading the sync does not wait for it.
        case followerWithoutSync = "strata-follower-without-sync"
        /// Recovery takes a batch of the log that was written in part.
        case tornBatchTaken = "strata-torn-batch-taken"
        /// Recovery leaves the last batch of the log out.
        case recoveryDropsLast = "strata-recovery-drops-last"
        /// In the upper branches of a table's tree the first key of a child leads to the child before it.
        case branchSearch = "strata-branch-search"
        /// Nodes are believed whatever their checksum says.
        case checksumUnchecked = "strata-checksum-unchecked"

        // Storage.

        /// In the lowest branches of a table's tree the first key of a group leads to the group before it.
        case leafSearch = "strata-leaf-search"
        /// A file grows by 16 MiB, whatever its policy says.
        case growsFar = "strata-grows-far"
        /// A header slot is written without a sync behind it.
        case slotWithoutSync = "strata-slot-without-sync"
        /// The name of a new log is not made durable.
        case logNameWithoutSync = "strata-log-name-without-sync"
        /// Recovery leaves the last of several commits out that one write put in the log.
        case groupEndLost = "strata-group-end-lost"
        /// Recovery does no deletion again.
        case deletionNotReplayed = "strata-deletion-not-replayed"
        /// A version loses its protection when a newer one is there, though it is pinned.
        case pinEndsEarly = "strata-pin-ends-early"
        /// Of several changes of one value in a transaction the first counts.
        case secondUpdateLost = "strata-second-update-lost"
        /// A compaction writes texts without their contents that have nodes of their own.
        case compactionEmptiesTexts = "strata-compaction-empties-texts"
        /// A compaction leaves the last row of each row group out.
        case compactionLosesRows = "strata-compaction-loses-rows"

        /// Pages of a version that another process has pinned are used again.
        case foreignPinIgnored = "strata-foreign-pin-ignored"
        /// Of the writers that wait, the one that came last is the next.
        case lastWriterFirst = "strata-last-writer-first"
        /// A write that the system did in part is taken for a whole one.
        case shortWriteBelieved = "strata-short-write-believed"

        // Sealed storage.

        /// Everything is sealed under one nonce.
        case nonceConstant = "strata-nonce-constant"
        /// Nonces are counted, from one in each process.
        case nonceCounted = "strata-nonce-counted"
        /// Records of an encrypted store's log are plain, behind zeros in place of nonce and tag.
        case logUnsealed = "strata-log-unsealed"

        // Repair.

        /// A check of a store passes over what breaks a rule, and over what cannot be read.
        case checkForgives = "strata-check-forgives"
        /// A salvage counts its first row as saved, and does not write it.
        case salvageLosesRow = "strata-salvage-loses-row"
        /// A salvage does not look for a log.
        case salvageLogForgotten = "strata-salvage-log-forgotten"
        /// A salvage says of no row that it is lost.
        case salvageLossUntold = "strata-salvage-loss-untold"

        // Queries.

        /// A number that is at most another one is none where it is the least of all.
        case leastIntegerMissed = "strata-least-integer-missed"
        /// Everything is at most what is not a number.
        case nanMatches = "strata-nan-matches"
        /// In an index the two zeros are two values.
        case zerosDiffer = "strata-zeros-differ"
        /// Texts of 64 bytes and more are equal that differ in their last byte.
        case longTextsEqual = "strata-long-texts-equal"
        /// Sums and extremes leave rows out that were inserted between others.
        case sumsWithoutInserted = "strata-sums-without-inserted"
        /// The last place of a text is not searched for a part.
        case textEndUnsearched = "strata-text-end-unsearched"
        /// Of several rows that an index names the last one is left out.
        case indexStopsShort = "strata-index-stops-short"
        /// A range of an index ends before the rows of its last value.
        case indexEndMissed = "strata-index-end-missed"
        /// An index is not told of a value that is null now.
        case nullUntold = "strata-null-untold"
        /// A mean is that of all objects, those without a value among them.
        case meanCountsNulls = "strata-mean-counts-nulls"
        /// A limit lets one object more through.
        case limitOneMore = "strata-limit-one-more"
        /// Objects that are equal in the first property count as one, whatever their others are.
        case distinctByFirst = "strata-distinct-by-first"
        /// Of several properties the first alone decides an order.
        case sortByFirst = "strata-sort-by-first"
        /// Case is ignored in the letters of ASCII alone.
        case foldsASCIIAlone = "strata-folds-ascii-alone"

        // Objects.

        /// An upsert empties the plain properties that it was not given.
        case upsertEmpties = "strata-upsert-empties"
        /// A list's element that moves from beyond the thousandth, or there, comes to stand one place before.
        case farMoveShort = "strata-far-move-short"
        /// A list removes the element before the one that is to go.
        case listRemovesNeighbour = "strata-list-removes-neighbour"
        /// A list inserts behind the element in front of which something is to stand.
        case listInsertsBehind = "strata-list-inserts-behind"
        /// A rule to cascade ends three objects below the one that is deleted.
        case cascadeShallow = "strata-cascade-shallow"
        /// What a rule deletes with its last owner goes with the first.
        case sharedDeleted = "strata-shared-deleted"
        /// A rule that denies a deletion is not asked.
        case denyIgnored = "strata-deny-ignored"

        // Realms and threads.

        /// What is frozen is the newest version, and not the one that is shown.
        case freezeTakesNewest = "strata-freeze-takes-newest"

        // Notifications.

        /// A change set leaves its insertions out.
        case insertionLost = "strata-insertion-lost"
        /// A change set leaves its deletions out.
        case deletionLost = "strata-deletion-lost"
        /// A change set with deletions leaves its modifications out.
        case modificationBesideDeletion = "strata-modification-beside-deletion"

        // Migration.

        /// A migration leaves the last object of a class out of which there are a multiple of 1 024.
        case fullStepShort = "strata-full-step-short"

        // Processes.

        /// Every third bell by which a commit wakes other processes is not rung.
        case bellLost = "strata-bell-lost"
        /// A process looks every millisecond whether another one has rung.
        case attendantPolls = "strata-attendant-polls"
        /// The owner of writing leaves changes of values out of what other processes hand in.
        case guestUpdateLost = "strata-guest-update-lost"

        package static let variable = "ASSAY_ZOO_MISTAKE"

        /// Nil where the environment names none of these: other names belong to others.
        private static let chosen = getenv(variable).flatMap { PlantedMistake(rawValue: String(cString: $0)) }

        package var isPlanted: Bool { self == Self.chosen }

        private static let asked = Atomic<UInt64>(0)

        /// For a mistake that is made every third time: whether it is planted, and this is such a time.
        package var isDue: Bool { isPlanted && Self.asked.add(1, ordering: .relaxed).newValue % 3 == 0 }

        /// One more each time, from one in each process.
        package static func next() -> UInt64 { asked.add(1, ordering: .relaxed).newValue }

        package static func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

        private static let hoarded = Mutex<[[UInt8]]>([])

        /// Takes memory and keeps it.
        package static func hoard(bytes: Int) {
            hoarded.withLock { $0.append([UInt8](repeating: 0x5A, count: bytes)) }
        }
    }
#endif
