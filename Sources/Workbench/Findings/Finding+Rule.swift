extension Finding.Rule {
  /// What it means when it fires, in a sentence.
  package var meaning: String {
    switch self {
    case .faultStorm:
      "Objects went to the database one by one, each for its row, or owners, each for the list of one "
        + "to-many relationship."
    case .ineffectivePrefetch:
      "A prefetch was asked for, and what it was to bring was still fetched one by one."
    case .unusedPrefetch:
      "A prefetch brought rows that nobody read: a SELECT, and memory, for nothing."
    case .fetchToCount:
      "Objects were fetched for the sake of their number, which SQLite can give without a row."
    case .fetchLoop:
      "One line runs the same fetch again and again; each goes through all layers."
    case .partlyRead:
      "A long list was fetched as a whole, and only its beginning was read."
    case .batchWalked:
      "A fetch with a batch size was turned into an array, which loads every page at once."
    case .chattySaves:
      "Many small saves follow each other; each is one transaction, or two when it inserts."
    case .unmergedBatch:
      "A batch request changed rows beneath objects, and they were read as they were before."
    case .missingIndex:
      "SQLite reads or sorts rows that an index would spare it, and an index that was tried did."
    }
  }

  /// When it fires, with the numbers.
  package var condition: String {
    switch self {
    case .faultStorm:
      "\(FaultStorm.threshold) faults of one entity, or of one relationship, and of one SQL text, from "
        + "one line within one step, all filled from the database. Row-cache hits never count."
    case .ineffectivePrefetch:
      "\(FaultStorm.threshold) such faults, filled from the database or asked of a parent context, "
        + "of a key path that the fetch had in `prefetch`. It then takes the storm's place."
    case .unusedPrefetch:
      "Rows were prefetched, the fetched objects were read later, no key path of theirs leads "
        + "through the relationship, and no fault found its row there."
    case .fetchToCount:
      "\(FetchToCount.threshold) objects or more under a name that was walked through, and of which nothing was read or "
        + "changed."
    case .fetchLoop:
      "\(FetchLoop.threshold) fetches of one SQL text from one line."
    case .partlyRead:
      "\(NumberText.grouped(PartlyRead.threshold)) rows or more, without batch size and limit, of "
        + "which no more than one in \(PartlyRead.part) was read."
    case .batchWalked:
      "\(BatchWalked.fewestPages) pages or more loaded by one `fetch(_:)`, or for an array that a step made of the result."
    case .chattySaves:
      "\(ChattySaves.threshold) saves of one context, each of \(ChattySaves.smallSave) objects or "
        + "fewer, each begun within a second of the one before it."
    case .unmergedBatch:
      "A batch update or delete that changed rows, objects of the entity that its context held before, and a "
        + "later step that reads them with no `merge`, `refresh` or `reset` between."
    case .missingIndex:
      "An index made on a copy of the store saves \(NumberText.grouped(MissingIndex.leastGain)) VM "
        + "steps of the work, and leaves one in \(MissingIndex.leastPart) of them or fewer."
    }
  }

  /// What to do, in words; a finding says it as code.
  package var remedy: String {
    switch self {
    case .faultStorm:
      "Let the rows come with the fetch (`includesPropertyValues`, `returnsObjectsAsFaults = false`), "
        + "prefetch the relationship, or hold what is few. Where only the number of a to-many is shown, "
        + "keep the number on the owner."
    case .ineffectivePrefetch:
      "Hold the fetched objects, let the fetch bring values, or fetch in the parent."
    case .unusedPrefetch: "Take the key path out of `relationshipKeyPathsForPrefetching`."
    case .fetchToCount: "`count(for:)`, or the result type `.countResultType`."
    case .fetchLoop:
      "One fetch with `IN`, or look among the registered objects before fetching (find or fetch)."
    case .partlyRead: "`fetchBatchSize`, about 1.3 screens of rows."
    case .batchWalked: "`fetchBatched(_:)`, or no batch size."
    case .chattySaves: "Save once for all of them, or in lots that fit into memory."
    case .unmergedBatch: "`mergeChanges(fromRemoteContextSave:into:)` with the IDs of the request."
    case .missingIndex:
      "The fetch index, for the model and as SQL; `cdprof advise` tells its costs."
    }
  }

  /// The chapter of the book that explains it.
  package var chapter: Int {
    switch self {
    case .fetchToCount, .batchWalked: 6
    case .unmergedBatch: 7
    case .faultStorm, .ineffectivePrefetch, .unusedPrefetch, .fetchLoop, .partlyRead,
      .chattySaves, .missingIndex:
      8
    }
  }
}
