package import ProfileEvents

/// One step of a variant as it ran.
package struct StepResult: Sendable, Equatable {
  /// The step as one shell line, with the variant's changes.
  package var text: String
  package var name: String?
  package var location: CallSite
  /// What it did: `moods: 5,000 Mood, all faults`.
  package var summary: String
  package var costs: Costs
  /// Nanoseconds from the beginning of the variant.
  package var offset: UInt64
  /// The request in words; nil when the step is no fetch.
  package var fetch: FetchText?
  /// What the step caused, alike events together.
  package var groups: [EventGroup]

  package init(
    text: String, name: String? = nil, location: CallSite, summary: String, costs: Costs,
    offset: UInt64 = 0, fetch: FetchText? = nil, groups: [EventGroup] = []
  ) {
    self.text = text
    self.name = name
    self.location = location
    self.summary = summary
    self.costs = costs
    self.offset = offset
    self.fetch = fetch
    self.groups = groups
  }
}
