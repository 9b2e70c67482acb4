/// The rules of findings, as scenarios and reports name them.
package enum RuleName: String, Sendable, CaseIterable {
  case faultStorm = "fault-storm"
  case ineffectivePrefetch = "ineffective-prefetch"
  case unusedPrefetch = "unused-prefetch"
  case countPerRow = "count-per-row"
  case fetchToCount = "fetch-to-count"
  case fetchLoop = "fetch-loop"
  case partlyRead = "partly-read"
  case batchWalked = "batch-walked"
  case sortedInMemory = "sorted-in-memory"
  case chattySaves = "chatty-saves"
  case needlessUpdate = "needless-update"
  case busyMainQueue = "busy-main-queue"
  case unmergedBatch = "unmerged-batch"
  case lostChanges = "lost-changes"
  case keptAlive = "kept-alive"
  case missingIndex = "missing-index"
}
