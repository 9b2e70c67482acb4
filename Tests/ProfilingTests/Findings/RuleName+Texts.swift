@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchText

/// What `Documentation/findings.md` says of each rule; the thresholds come from the rules themselves.
extension RuleName {
  /// What it means when it fires, in a sentence.
  var meaning: String {
    switch self {
    case .faultStorm:
      "Objects went to the database one by one, each for its row, or owners, each for the list of one "
        + "to-many relationship."
    case .ineffectivePrefetch:
      "A prefetch was asked for, and what it was to bring was still fetched one by one."
    case .unusedPrefetch:
      "A prefetch brought rows that nobody read: a SELECT, and memory, for nothing."
    case .countPerRow:
      "Owners went to the database one by one, each for its list of a to-many, and only the list's "
        + "length was read."
    case .fetchToCount:
      "Objects were fetched for the sake of their number, which SQLite can give without a row."
    case .fetchLoop:
      "One line runs the same fetch again and again; each goes through all layers."
    case .partlyRead:
      "A large result was fetched in full, but only its first objects were read."
    case .batchWalked:
      "A fetch with a batch size was turned into an array, which loads every page at once."
    case .sortedInMemory:
      "A fetched list was sorted in memory, for which every object had to be read."
    case .chattySaves:
      "Many small saves follow each other; each is one transaction, or two when it inserts."
    case .needlessUpdate:
      "A save wrote rows that got a new version and nothing else, as equal values were set."
    case .busyMainQueue:
      "A context on the main queue saved or merged many objects at once; nothing is drawn meanwhile."
    case .lostChanges:
      "Refreshing objects silently discarded their unsaved changes."
    case .keptAlive:
      "All results were let go, and objects stay in memory: they hold each other, or the context was "
        + "told to hold them."
    case .unmergedBatch:
      "A batch request changed rows beneath objects, and they were read as they were before."
    case .missingIndex:
      "SQLite reads or sorts rows that an index would spare it, and an index that was tried did."
    }
  }

  /// When it fires, with the numbers.
  var condition: String {
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
    case .countPerRow:
      "\(FaultStorm.threshold) such relationships, filled from the database, of a key path that ends "
        + "in `@count`, and nothing else read through it. It then takes the storm's place."
    case .fetchToCount:
      "\(FetchToCount.threshold) objects or more under a name that was walked through from end to end, and of which "
        + "nothing was read, changed or given to another object."
    case .fetchLoop:
      "\(FetchLoop.threshold) fetches of one SQL text from one line."
    case .partlyRead:
      "\(NumberText.grouped(PartlyRead.threshold)) rows or more, without batch size and limit, of "
        + "which no more than one in \(PartlyRead.part) was read."
    case .batchWalked:
      "\(BatchWalked.fewestPages) pages or more loaded by one `fetch(_:)`, or for an array that a step made of the result."
    case .sortedInMemory:
      "A `walk` with `sort`, through all that a fetch without `limit` and `offset` brought, whose "
        + "comparing fired \(SortedInMemory.threshold) faults, whatever filled them, or loaded "
        + "\(BatchWalked.fewestPages) pages. The keys are attributes that the store has."
    case .chattySaves:
      "\(ChattySaves.threshold) saves of one context that reached the store, each of "
        + "\(ChattySaves.smallSave) objects or fewer, with no larger one between. No clock is asked."
    case .needlessUpdate:
      "All statements of a save are UPDATEs that set `Z_OPT` alone."
    case .busyMainQueue:
      "\(NumberText.grouped(BusyMainQueue.threshold)) objects in one save of a context with "
        + "`queue main`, or in one merge into it, those that it has not registered left out. The "
        + "number decides, not a time."
    case .lostChanges:
      "A `refresh` with `keep no` of objects of a result that was changed, with no `save`, `rollback`, "
        + "`undo` or `reset` between."
    case .keptAlive:
      "No result is held, nothing is left to save, and a context has \(RetainedObjectsRule.threshold) objects "
        + "registered or more."
    case .unmergedBatch:
      "A batch update or delete that changed rows, objects that its context held before and that are "
        + "surely among them, and a later step that reads what was changed with no `merge` or `reset` "
        + "between. A `refresh` helps where a fetch has freshened the row cache before it."
    case .missingIndex:
      "An index made on a copy of the store saves \(NumberText.grouped(MissingIndex.leastGain)) VM "
        + "steps of the work, and leaves one in \(MissingIndex.leastPart) of them or fewer."
    }
  }

  /// What to do, in words; a finding says it as code.
  var remedy: String {
    switch self {
    case .faultStorm:
      "Let the rows come with the fetch (`includesPropertyValues`, `returnsObjectsAsFaults = false`), "
        + "prefetch the relationship, or hold what is few."
    case .ineffectivePrefetch:
      "Hold the fetched objects, let the fetch bring values, or fetch in the parent."
    case .unusedPrefetch: "Take the key path out of `relationshipKeyPathsForPrefetching`."
    case .countPerRow:
      "Keep the number on the owner, as a derived attribute or set with each change; or count all of "
        + "them by one fetch of dictionaries with `group`."
    case .fetchToCount: "`count(for:)`, or the result type `.countResultType`."
    case .fetchLoop:
      "One fetch with `IN`, or look among the registered objects before fetching (find or fetch)."
    case .partlyRead: "`fetchBatchSize`, about 1.3 screens of rows."
    case .batchWalked:
      "`fetchBatched(_:)` and its indexes, sorted by the request; or no batch size."
    case .sortedInMemory:
      "`sortDescriptors` of the request, with an index where the list is long and only its beginning "
        + "is shown."
    case .chattySaves: "Save once, or in batches that fit in memory."
    case .needlessUpdate: "Set what differs: `if object.name != name { object.name = name }`."
    case .busyMainQueue:
      "Change and save in a background context, and merge into the main one; save lots that are small "
        + "enough to be merged within a frame."
    case .lostChanges: "`refresh(_:mergeChanges: true)`, or `rollback()` where that is meant."
    case .keptAlive:
      "Refresh one end of the relationship before its objects are let go, or reset the context; take "
        + "`retainsRegisteredObjects` or an undo manager back that nobody needs."
    case .unmergedBatch: "`mergeChanges(fromRemoteContextSave:into:)` with the IDs of the request."
    case .missingIndex:
      "The fetch index, for the model and as SQL; `cdprof advise` tells its costs."
    }
  }

  /// The chapter of the book that explains it.
  var chapter: Int {
    switch self {
    case .fetchToCount, .batchWalked, .lostChanges, .keptAlive: 6
    case .unmergedBatch, .needlessUpdate: 7
    case .faultStorm, .countPerRow, .ineffectivePrefetch, .unusedPrefetch, .fetchLoop, .partlyRead,
      .sortedInMemory, .chattySaves, .busyMainQueue, .missingIndex:
      8
    }
  }
}
