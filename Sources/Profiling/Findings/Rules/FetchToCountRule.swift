import ProfileEvents
import ScenarioLanguage

/// Finds objects that were fetched only to be counted.
///
/// It fires if at least `threshold` objects were fetched and the result was enumerated completely,
/// but no property was read or changed, and no object was assigned to another one.
enum FetchToCountRule {
  static let rule = Rule(
    .fetchToCount, chapter: 6,
    meaning:
      "Objects were fetched only to count them, which SQLite can do without returning a row.",
    condition:
      "A named result of \(threshold) objects or more was walked from end to end, and nothing "
      + "of it was read, changed, or assigned to another object.",
    remedy: "Use `count(for:)` or the result type `.countResultType`.",
    metrics: [.rows, .registered, .peak], search: .work(findings))
  /// The minimum number of rows; fewer rows cost little more than a count.
  static let threshold = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    work.parts.indices.compactMap { place in
      let part = work.parts[place]
      guard let fetch = part.step.fetch,
        part.step.resultKind == .objects || part.step.resultKind == .ids
      else { return nil }
      let users = work.users(ofResultAt: place)
      guard !users.isEmpty, users.allSatisfy(\.step.goesThroughAll),
        fetch.option(.batch) == nil,
        let event = work.events(of: part).first(where: { $0.kind == .fetch }),
        event.rows >= threshold
      else { return nil }
      var cured = fetch.without(.result).without(.sort).without(.prefetch).without(.batch)
      cured = cured.without(.faults).without(.values).with(
        .result, .choice(ResultKind.count.rawValue))
      return Finding(
        rule: rule.name, subject: fetch.subject, count: event.rows,
        callSite: part.recorded.location,
        what: "rows fetched only to be counted",
        cure: SuggestedFix(swift: ["let number = try context.count(for: request)"], fetch: cured))
    }
  }
}

extension Step {
  /// A Boolean value that indicates whether the step only enumerates a result from its first object
  /// to its last.
  fileprivate var goesThroughAll: Bool {
    verb == .walk && reads.isEmpty && option(.sort) == nil
      && [.limit, .offset, .every].allSatisfy { number(of: $0) ?? 0 <= ($0 == .every ? 1 : 0) }
  }
}
