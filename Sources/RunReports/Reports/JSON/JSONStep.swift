import ProfileEvents
import Profiling

/// One step as it ran in the JSON file; its property names are the file's keys.
struct JSONStep: Codable {
  var text: String
  var name: String?
  var location: JSONLocation
  var summary: String
  /// For readers of the file, as `rows` to `misses`: `counters` has them all.
  var selects: Int
  var rows: Int
  var faults: Int
  var hits: Int
  var misses: Int
  var counters: JSONCounters
  var nanoseconds: UInt64
  /// Nanoseconds from the beginning of the variant.
  var offset: UInt64
  var fetch: JSONFetch?
  var groups: [JSONGroup]

  init(_ step: StepResult) {
    let counters = step.costs.counters
    text = step.text
    name = step.name
    location = JSONLocation(step.location)
    summary = step.summary
    selects = counters.selects
    rows = counters.rows
    faults = counters.faults
    hits = counters.hits
    misses = counters.misses
    self.counters = JSONCounters(counters)
    nanoseconds = step.costs.nanoseconds
    offset = step.offset
    fetch = step.fetch.map(JSONFetch.init)
    groups = step.groups.map(JSONGroup.init)
  }

  /// What was written.
  var result: StepResult {
    StepResult(
      text: text, name: name, location: location.site, summary: summary,
      costs: Costs(counters: counters.counters, nanoseconds: nanoseconds), offset: offset,
      fetch: fetch?.fetch, groups: groups.map(\.group))
  }
}
